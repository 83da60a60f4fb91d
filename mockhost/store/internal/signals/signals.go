// Package signals passes a store's signals to those who listen in this process.
package signals

import (
	"sync"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

// Listeners are those who listen; the zero value has none.
type Listeners struct {
	mu   sync.RWMutex
	by   map[int]func(store.Signal)
	next int
}

// Tell passes a signal to each of them.
func (l *Listeners) Tell(sig store.Signal) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, f := range l.by {
		f(sig)
	}
}

// Listen adds one until stop is called.
func (l *Listeners) Listen(f func(store.Signal)) (stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[int]func(store.Signal){}
	}
	id := l.next
	l.next++
	l.by[id] = f
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.by, id)
	}
}
