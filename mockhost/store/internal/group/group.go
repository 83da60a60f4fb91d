// Package group is the queue of a group commit: closures of many callers, one committer, and an answer to each.
//
// It knows no database. Start at New; the store's committer is Loop.
package group

import (
	"context"
	"sync"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Job is one caller's closure. Err is what becomes of it, and the committer's to set until Answer.
type Job struct {
	Ctx context.Context
	Run func(store.Tx) error
	Err error

	done chan struct{}
}

// Answer tells the caller what became of its closure. It is called once.
func (j *Job) Answer(err error) {
	j.Err = err
	close(j.done)
}

// Queue is what waits for the committer.
type Queue struct {
	most    int
	jobs    chan *Job
	quit    chan struct{}
	drained chan struct{}
	closing sync.Once
}

// New makes a queue whose batches are of so many closures at most: that bounds how long the first waits for the last.
func New(most int) *Queue {
	return &Queue{most: most, jobs: make(chan *Job, most), quit: make(chan struct{}), drained: make(chan struct{})}
}

// Write queues a closure and waits for what becomes of it. It is store.ErrClosed behind Close.
func (q *Queue) Write(ctx context.Context, run func(store.Tx) error) error {
	if q.Closed() {
		return store.ErrClosed
	}
	j := &Job{Ctx: ctx, Run: run, done: make(chan struct{})}
	select {
	case q.jobs <- j:
	case <-q.quit:
		return store.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	// Once queued the closure may commit at any moment, so its outcome is waited for whatever becomes of ctx.
	select {
	case <-j.done:
		return j.Err
	case <-q.drained:
		select {
		case <-j.done:
			return j.Err
		default:
			return store.ErrClosed
		}
	}
}

// Loop is the committer. What queues up while one batch reaches the disk is the next batch, so nobody waits for company and a
// busy host pays one sync for many writers. It ends once the queue is closed and empty.
func (q *Queue) Loop(commit func(batch []*Job)) {
	defer close(q.drained)
	batch := make([]*Job, 0, q.most)
	for {
		select {
		case j := <-q.jobs:
			commit(q.fill(append(batch[:0], j)))
		case <-q.quit:
			for {
				rest := q.fill(batch[:0])
				if len(rest) == 0 {
					return
				}
				commit(rest)
			}
		}
	}
}

func (q *Queue) fill(batch []*Job) []*Job {
	for len(batch) < q.most {
		select {
		case j := <-q.jobs:
			batch = append(batch, j)
		default:
			return batch
		}
	}
	return batch
}

// Len is how many closures wait.
func (q *Queue) Len() int { return len(q.jobs) }

// Closed says whether nothing more is taken.
func (q *Queue) Closed() bool {
	select {
	case <-q.quit:
		return true
	default:
		return false
	}
}

// Close takes nothing more and waits for the committer, which must run, to be done with what was taken.
func (q *Queue) Close() {
	q.closing.Do(func() { close(q.quit) })
	<-q.drained
}
