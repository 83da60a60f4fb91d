package soak

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Options are one soak.
type Options struct {
	Executable  string // this program, that serves the host
	Store       string // a PostgreSQL URL; its schema has no events yet
	Subscribers int    // over both tenants
	Events      int    // over both tenants
	Runs        int    // over both tenants
	Kills       int    // over both instances
	Writers     int    // at once
	Progress    func(says string)
}

// stay and away bound how long a subscriber reads and is away, in real time.
const (
	stay = 30 * time.Second
	away = 5 * time.Second
)

// tell is the pause between two lines of progress.
const tell = 10 * time.Second

// soaking is one soak as it goes on.
type soaking struct {
	Options
	load      *Load
	crowd     *Crowd
	instances []*instance
	memory    memory
	phase     atomic.Value // string
	next      atomic.Int64 // pieces of work that writers took
	limit     atomic.Int64 // pieces that they may take for now
	died      atomic.Int64
	began     time.Time
}

// Run serves one host from two processes over the store. In its first half 1,000 subscribers (or as many as were asked
// for) come and go beside the writers, and memory is watched; in its second the processes are killed all the while.
// Afterwards everything is counted. An error is for what could not be done or found out.
func Run(ctx context.Context, o Options) (r Result, err error) {
	s := &soaking{Options: o, began: time.Now()}
	ctx, stop := context.WithCancel(ctx)
	var urls []string
	for range 2 {
		addr, err := address(ctx)
		if err != nil {
			stop()
			return r, err
		}
		s.instances = append(s.instances, &instance{executable: o.Executable, store: o.Store, addr: addr, life: ctx})
		urls = append(urls, "http://"+addr)
	}
	var beside sync.WaitGroup
	defer func() {
		stop()
		beside.Wait()
		for _, i := range s.instances {
			if i.cmd != nil && i.cmd.ProcessState == nil {
				_ = i.cmd.Wait() // killed with the context
			}
		}
	}()
	s.say("start two instances")
	for _, i := range s.instances {
		if err := i.start(); err != nil {
			return r, err
		}
		if err := i.await(ctx); err != nil {
			return r, err
		}
	}
	s.load = New(urls...)
	defer s.load.Close()
	first := map[string]string{}
	for _, key := range keys() {
		if first[key], err = s.load.Event(ctx, key); err != nil {
			return r, err
		}
	}
	s.crowd = s.load.Crowd(o.Subscribers, keys(), first)
	s.crowd.Stay, s.crowd.Away = stay, away
	s.crowd.Start(ctx)
	beside.Go(func() { s.watch(ctx) })
	if err := s.work(ctx); err != nil {
		return r, err
	}
	s.say("count what is there")
	audits, logs := []Audit{}, map[string][]string{}
	for _, key := range keys() {
		a, err := s.load.Audit(ctx, key, first[key])
		if err != nil {
			return r, err
		}
		audits, logs[key] = append(audits, a), a.Log
	}
	s.say("gather the subscribers")
	seen, err := s.crowd.Count(ctx, logs)
	if err != nil {
		return r, err
	}
	return s.result(audits, seen), nil
}

// work is both halves of the writers' work.
func (s *soaking) work(ctx context.Context) error {
	total := int64(s.Events + s.Runs)
	return Together(ctx, s.Writers+1, func(ctx context.Context, n int) error {
		if n < s.Writers {
			return s.write(ctx, total)
		}
		s.say("write, and let subscribers come and go")
		s.limit.Store(total / 2)
		for s.next.Load() < total/2 {
			if err := pause(ctx); err != nil {
				return err
			}
		}
		s.memory.close()
		s.say("kill the instances")
		if err := s.kill(ctx, total); err != nil {
			return err
		}
		s.say("write what is left")
		s.limit.Store(total)
		return nil
	})
}

// kill kills processes of both instances, and lets the writers go on with each death.
func (s *soaking) kill(ctx context.Context, total int64) error {
	var taken atomic.Int64
	kills := int64(s.Kills)
	return Together(ctx, len(s.instances), func(ctx context.Context, n int) error {
		mine := int64(0)
		return s.instances[n].killed(ctx, s.load.acknowledged, func() bool {
			if mine > 0 {
				died := s.died.Add(1)
				s.limit.Store(total/2 + (total-total/2)*died/max(kills, 1))
			}
			mine++
			return taken.Add(1) <= kills
		})
	})
}

// write takes pieces of work until there are no more. One in so many is a run; the tenants take turns.
func (s *soaking) write(ctx context.Context, total int64) error {
	for {
		n := s.next.Load()
		switch {
		case n >= total:
			return nil
		case n >= s.limit.Load():
			if err := pause(ctx); err != nil {
				return err
			}
			continue
		case !s.next.CompareAndSwap(n, n+1):
			continue
		}
		var err error
		runs := int64(s.Runs)
		key := keys()[n%2]
		if (n+1)*runs/total > n*runs/total {
			_, err = s.load.Run(ctx, key)
		} else {
			_, err = s.load.Event(ctx, key)
		}
		if err != nil {
			return err
		}
	}
}

func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(again):
		return nil
	}
}

// watch samples the memory and tells how far it is.
func (s *soaking) watch(ctx context.Context) {
	total := int64(s.Events + s.Runs)
	every := time.NewTicker(200 * time.Millisecond)
	defer every.Stop()
	told := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
		}
		var now [2]int64
		for n, i := range s.instances {
			now[n] = i.resident()
			s.memory.add(now[n], float64(s.next.Load())/float64(total/2))
		}
		if time.Since(told) >= tell {
			told = time.Now()
			s.say(fmt.Sprintf("%s: %d of %d events and runs, %d of %d kills, %d subscribers reading (%d streams so far, %d events to them), memory %d and %d MiB",
				s.phase.Load(), s.next.Load(), total, s.died.Load(), s.Kills, s.crowd.Open(), s.crowd.Joined(), s.crowd.Seen(), now[0]>>20, now[1]>>20))
		}
	}
}

func (s *soaking) say(what string) {
	if _, told := s.phase.Load().(string); !told || len(what) < 60 {
		s.phase.Store(what)
	}
	s.Progress(fmt.Sprintf("%4.0fs  %s", time.Since(s.began).Seconds(), what))
}
