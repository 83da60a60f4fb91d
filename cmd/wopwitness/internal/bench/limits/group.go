package limits

import (
	"context"
	"net/http"
)

// maxBatch is how many requests share a commit at most, as in the mock host's store.
const maxBatch = 512

type waiting struct {
	event event
	done  chan error
}

// group commits together what waits: a bare group committer.
type group struct {
	writer *writer
	jobs   chan waiting
	quit   chan struct{}
	ended  chan struct{}
	made   made
}

func newGroup(ctx context.Context, path string) (http.Handler, func() error, error) {
	w, err := openWriter(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	g := &group{writer: w, jobs: make(chan waiting, maxBatch), quit: make(chan struct{}), ended: make(chan struct{})}
	go g.loop()
	return g, func() error {
		close(g.quit)
		<-g.ended
		return w.close()
	}, nil
}

func (g *group) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e, err := g.made.next(r)
	if err != nil {
		failed(w, err)
		return
	}
	job := waiting{event: e, done: make(chan error, 1)}
	select {
	case g.jobs <- job:
	case <-g.quit:
		return
	}
	select {
	case err = <-job.done:
	case <-g.ended:
		return
	}
	if err != nil {
		failed(w, err)
		return
	}
	answer(w, e.id)
}

func (g *group) loop() {
	defer close(g.ended)
	batch := make([]waiting, 0, maxBatch)
	for {
		select {
		case <-g.quit:
			return
		case first := <-g.jobs:
			batch = g.fill(append(batch[:0], first))
		}
		err := g.commit(batch)
		for _, job := range batch {
			job.done <- err
		}
	}
}

func (g *group) fill(batch []waiting) []waiting {
	for len(batch) < maxBatch {
		select {
		case job := <-g.jobs:
			batch = append(batch, job)
		default:
			return batch
		}
	}
	return batch
}

// commit leaves a transaction open where a statement fails; the run that measures ends with the first failure anyway.
func (g *group) commit(batch []waiting) error {
	if _, err := g.writer.begin.Exec(); err != nil {
		return err
	}
	for _, job := range batch {
		if err := g.writer.add(job.event); err != nil {
			return err
		}
	}
	_, err := g.writer.commit.Exec()
	return err
}
