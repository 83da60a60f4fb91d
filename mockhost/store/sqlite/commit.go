package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/wopwitness/wopwitness/mockhost/store"
	"github.com/wopwitness/wopwitness/mockhost/store/internal/group"
)

// maxBatch bounds how many closures share a commit, and so how long the first of them waits for the last.
const maxBatch = 512

// Write implements store.Store.
func (s *Store) Write(ctx context.Context, f func(store.Tx) error) error {
	return s.queue.Write(ctx, f)
}

// commit runs a batch in one transaction, each closure undone alone where it fails, and answers everyone once the batch is durable.
// The background context is deliberate: a caller that leaves must not undo the others' writes.
func (s *Store) commit(batch []*group.Job) {
	hooks, err := s.transact(batch)
	if err != nil {
		for _, j := range batch {
			if j.Err == nil {
				j.Err = err
			}
		}
	} else {
		for _, h := range hooks {
			h()
		}
	}
	for _, j := range batch {
		j.Answer(away(j.Err))
	}
}

func (s *Store) transact(batch []*group.Job) (hooks []func(), err error) {
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
		if j.Err = j.Ctx.Err(); j.Err != nil {
			continue
		}
		tx := s.transaction()
		var broken error
		if j.Err, broken = tx.end(ctx, tx.run(j.Run)); broken != nil {
			return nil, s.abandon(broken)
		}
		if j.Err == nil {
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
func (s *Store) single(j *group.Job) (hooks []func(), err error) {
	if j.Err = j.Ctx.Err(); j.Err != nil {
		return nil, nil
	}
	tx := s.transaction()
	tx.alone = true
	var broken error
	if j.Err, broken = tx.end(context.Background(), tx.run(j.Run)); broken != nil {
		return nil, s.abandon(broken)
	}
	if j.Err != nil {
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
