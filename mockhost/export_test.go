package mockhost

import (
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

// WithStore is the configuration with something between the host and its store.
func (c Config) WithStore(wrap func(store.Store) store.Store) Config {
	c.wrap = wrap
	return c
}

// WithBase is the configuration with another clock below the host's own.
func (c Config) WithBase(base clockwork.Clock) Config {
	c.base = base
	return c
}

// WithWriteTimeout is the configuration with that much patience for a stream's reader who stands still.
func (c Config) WithWriteTimeout(d time.Duration) Config {
	c.writeTimeout = d
	return c
}
