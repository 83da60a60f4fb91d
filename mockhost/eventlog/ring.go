package eventlog

import (
	"slices"
	"sort"

	"github.com/wopwitness/wopwitness/mockhost/parts"
)

// The ring's bounds: a subscriber further behind reads pages of the store, so they cost speed and never an event.
const (
	ringFrames = 4096
	ringBytes  = 16 << 20
)

// ring holds the newest frames of a tenant's log. It covers the places above from and up to to, wholly: a place in that
// range without a frame is an event that was removed.
type ring struct {
	from, to int64
	frames   []*parts.Frame
	bytes    int
}

// extend adds frames that cover the places above after and up to to. A range that doesn't join on replaces the ring,
// which is then a shorter one and still whole.
func (r *ring) extend(after int64, frames []*parts.Frame, to int64) (moved bool) {
	if to <= r.to {
		return false
	}
	if after > r.to {
		r.from, r.frames, r.bytes = after, nil, 0
	}
	for _, f := range frames {
		if f.Event.Seq > r.to || after > r.to {
			r.frames = append(r.frames, f)
			r.bytes += len(f.Bytes)
		}
	}
	r.to = to
	r.evict()
	return true
}

func (r *ring) evict() {
	n := 0
	for n < len(r.frames)-1 && (len(r.frames)-n > ringFrames || r.bytes > ringBytes) {
		r.bytes -= len(r.frames[n].Bytes)
		r.from = r.frames[n].Event.Seq
		r.frames[n] = nil
		n++
	}
	r.frames = r.frames[n:]
}

func (r *ring) index(after int64) int {
	return sort.Search(len(r.frames), func(i int) bool { return r.frames[i].Event.Seq > after })
}

// after copies up to limit frames above the place; false when the ring doesn't reach back that far.
func (r *ring) after(place int64, limit int) ([]*parts.Frame, bool) {
	if place < r.from {
		return nil, false
	}
	i := r.index(place)
	return slices.Clone(r.frames[i:min(i+limit, len(r.frames))]), true
}

// drop forgets the frame of a removed event.
func (r *ring) drop(seq int64) {
	i := r.index(seq - 1)
	if i < len(r.frames) && r.frames[i].Event.Seq == seq {
		r.bytes -= len(r.frames[i].Bytes)
		r.frames = slices.Concat(r.frames[:i], r.frames[i+1:])
	}
}

// dropThrough forgets every frame up to the place.
func (r *ring) dropThrough(seq int64) {
	i := r.index(seq)
	for _, f := range r.frames[:i] {
		r.bytes -= len(f.Bytes)
	}
	r.frames = slices.Clone(r.frames[i:])
}
