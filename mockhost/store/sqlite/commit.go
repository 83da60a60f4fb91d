package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

// maxBatch bounds how many closures share a commit, and so how long the first of them waits for the last.
const maxBatch = 512

type job struct {
	ctx  context.Context
	run  func(store.Tx) error
	err  error
	done chan struct{}
}

// Write implements store.Store.
func (s *Store) Write(ctx context.Context, f func(store.Tx) error) error {
	j := &job{ctx: ctx, run: f, done: make(chan struct{})}
	select {
	case <-s.quit:
		return store.ErrClosed
	default:
	}
	select {
	case s.jobs <- j:
	case <-s.quit:
		return store.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	// Once queued the closure may commit at any moment, so its outcome is waited for whatever becomes of ctx.
	select {
	case <-j.done:
		return j.err
	case <-s.drained:
		select {
		case <-j.done:
			return j.err
		default:
			return store.ErrClosed
		}
	}
}

// commitLoop owns the writing connection. What queues up while one batch reaches the disk is the next batch, so nobody
// waits for company and a busy host pays one sync for many writers.
func (s *Store) commitLoop() {
	defer close(s.drained)
	batch := make([]*job, 0, maxBatch)
	for {
		select {
		case j := <-s.jobs:
			s.commit(s.fill(append(batch[:0], j)))
		case <-s.quit:
			for {
				rest := s.fill(batch[:0])
				if len(rest) == 0 {
					return
				}
				s.commit(rest)
			}
		}
	}
}

func (s *Store) fill(batch []*job) []*job {
	for len(batch) < maxBatch {
		select {
		case j := <-s.jobs:
			batch = append(batch, j)
		default:
			return batch
		}
	}
	return batch
}

// commit runs a batch in one transaction, each closure undone alone where it fails, and answers everyone once the batch is durable.
// The background context is deliberate: a caller that leaves must not undo the others' writes.
func (s *Store) commit(batch []*job) {
	hooks, err := s.transact(batch)
	if err != nil {
		for _, j := range batch {
			if j.err == nil {
				j.err = err
			}
		}
	} else {
		for _, h := range hooks {
			h()
		}
	}
	for _, j := range batch {
		j.err = away(j.err)
		close(j.done)
	}
}

func (s *Store) transact(batch []*job) (hooks []func(), err error) {
	defer func() {
		if err != nil {
			clear(s.heads)
		}
	}()
	if len(batch) == 1 {
		return s.single(batch[0])
	}
	ctx := context.Background()
	if _, err := s.stmts.begin.ExecContext(ctx); err != nil {
		return nil, fmt.Errorf("begin a transaction: %w", err)
	}
	kept := 0
	for _, j := range batch {
		if j.err = j.ctx.Err(); j.err != nil {
			continue
		}
		tx := s.transaction()
		var broken error
		if j.err, broken = tx.end(ctx, tx.run(j.run)); broken != nil {
			return nil, s.abandon(broken)
		}
		if j.err == nil {
			kept++
			hooks = append(hooks, tx.hooks...)
		}
	}
	if kept == 0 {
		return nil, s.abandon(nil)
	}
	if _, err := s.stmts.commit.ExecContext(ctx); err != nil {
		return nil, s.abandon(fmt.Errorf("commit: %w", err))
	}
	return hooks, nil
}

// single runs a closure that shares its transaction with nobody. One that only appends is a statement of its own.
func (s *Store) single(j *job) (hooks []func(), err error) {
	if j.err = j.ctx.Err(); j.err != nil {
		return nil, nil
	}
	tx := s.transaction()
	tx.alone = true
	var broken error
	if j.err, broken = tx.end(context.Background(), tx.run(j.run)); broken != nil {
		return nil, s.abandon(broken)
	}
	if j.err != nil {
		return nil, nil
	}
	return tx.hooks, nil
}

func (s *Store) transaction() *transaction {
	return &transaction{stmts: &s.stmts, runs: &s.runTx, recordStmts: &s.recordTx, free: s.free, heads: s.heads}
}

func (s *Store) abandon(cause error) error {
	if _, err := s.stmts.rollback.ExecContext(context.Background()); err != nil {
		return errors.Join(cause, fmt.Errorf("roll back: %w", err))
	}
	return cause
}
