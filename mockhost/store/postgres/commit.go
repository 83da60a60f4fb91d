package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/wopwitness/wopwitness/mockhost/store"
	"github.com/wopwitness/wopwitness/mockhost/store/internal/group"
)

// maxBatch bounds how many closures share a commit, and so how long the first of them waits for the last.
const maxBatch = 256

// Write implements store.Store.
func (s *Store) Write(ctx context.Context, f func(store.Tx) error) error {
	return s.queue.Write(ctx, f)
}

// commit runs jobs in as few transactions as their tenants allow, each closure in a savepoint, and answers each once its
// transaction is durable. A caller that leaves doesn't undo the others' writes.
func (s *Store) commit(jobs []*group.Job) {
	b := &batch{store: s}
	for i, j := range jobs {
		if err := j.Ctx.Err(); err != nil {
			j.Answer(err)
			continue
		}
		if err := b.do(j); err != nil {
			// Whatever broke would break for the rest, one limit of time after another.
			for _, left := range jobs[i:] {
				left.Answer(err)
			}
			return
		}
	}
	if err := b.flush(); err != nil {
		return // whoever was concerned was told
	}
}

// batch is the transaction that jobs share, and those that it was divided into.
type batch struct {
	store  *Store
	conn   *pgxpool.Conn // nil between transactions
	ctx    context.Context
	cancel context.CancelFunc

	lane    string
	inLane  bool
	place   string // what makes room for the next closure: BEGIN, or the end of the last savepoint
	kept    []*group.Job
	hooks   []func()
	signals []store.Signal
}

// do runs one job. An error is the transaction's and not the job's own: the job wasn't answered then, all others were.
func (b *batch) do(j *group.Job) error {
	if err := b.makeRoom(); err != nil {
		return err
	}
	tx := &transaction{batch: b}
	err := tx.run(j.Run)
	switch status := b.status(); {
	case status == 0: // divided in the middle of the closure, and broken at that
		return b.broken(errors.Join(err, errors.New("the connection was lost")))
	case err == nil && status == inError:
		err = errors.New("a statement of the transaction failed, and its error was passed over")
	}
	if err != nil {
		if _, undone := b.conn.Exec(b.ctx, `ROLLBACK TO SAVEPOINT one`); undone != nil {
			return b.broken(errors.Join(err, undone))
		}
		if tx.entered {
			b.inLane = false // a lock goes with the savepoint that it was taken in
		}
		b.place = "RELEASE SAVEPOINT one; SAVEPOINT one"
		j.Answer(err)
		return nil
	}
	b.place = "RELEASE SAVEPOINT one; SAVEPOINT one"
	b.kept = append(b.kept, j)
	b.hooks = append(b.hooks, tx.hooks...)
	b.signals = append(b.signals, tx.signals...)
	return nil
}

// The states of a transaction, as the protocol names them.
const inError = 'E'

// status is the transaction's state, 0 when its connection is gone.
func (b *batch) status() byte {
	if b.conn == nil || b.conn.Conn().IsClosed() {
		return 0
	}
	return b.conn.Conn().PgConn().TxStatus()
}

func (b *batch) makeRoom() error {
	if b.conn == nil {
		b.ctx, b.cancel = context.WithTimeout(context.Background(), statementLimit)
		conn, err := b.store.pool.Acquire(b.ctx)
		if err != nil {
			b.cancel()
			return b.store.failed("begin a transaction", err)
		}
		b.conn, b.place = conn, "BEGIN; SAVEPOINT one"
	}
	if err := b.exec(b.place); err != nil {
		return b.broken(fmt.Errorf("make room in a transaction: %w", err))
	}
	b.place = "SAVEPOINT one"
	return nil
}

// exec runs statements in one round trip.
func (b *batch) exec(statements string) error {
	_, err := b.conn.Conn().PgConn().Exec(b.ctx, statements).ReadAll()
	return err
}

// turn ends the transaction at hand in favour of its earlier closures, and begins another for the one at hand, which has
// done nothing yet.
func (b *batch) turn() error {
	if err := b.flush(); err != nil {
		return err
	}
	return b.makeRoom()
}

// broken gives the transaction up, and tells every job that shared it.
func (b *batch) broken(cause error) error {
	err := b.store.failed("commit", cause)
	for _, j := range b.kept {
		j.Answer(err)
	}
	b.reset()
	return err
}

func (b *batch) reset() {
	if b.conn != nil {
		b.conn.Release() // closes it when it is in a transaction still
		b.cancel()
	}
	*b = batch{store: b.store}
}

// flush commits, tells the other instances in the same breath, and answers the jobs after their hooks.
func (b *batch) flush() error {
	if b.conn == nil {
		return nil
	}
	if len(b.kept) == 0 {
		err := b.exec("ROLLBACK")
		b.reset()
		return b.store.failed("roll back", err)
	}
	end := "COMMIT"
	if len(b.signals) > 0 {
		end = b.store.notification(b.signals) + "; COMMIT"
	}
	results, err := b.conn.Conn().PgConn().Exec(b.ctx, end).ReadAll()
	if err == nil && (len(results) == 0 || !strings.HasPrefix(results[len(results)-1].CommandTag.String(), "COMMIT")) {
		err = errors.New("the transaction was rolled back instead")
	}
	if err != nil {
		return b.broken(err)
	}
	kept, hooks := b.kept, b.hooks
	b.reset()
	for _, h := range hooks {
		h()
	}
	for _, j := range kept {
		j.Answer(nil)
	}
	return nil
}
