package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/wopwitness/wopwitness/mockhost/store"
)

const (
	// pulse is how long the listening connection may say nothing before it is asked whether it is there.
	pulse = 5 * time.Second
	// firstPause and longestPause bound the pause between two attempts to listen again.
	firstPause, longestPause = 50 * time.Millisecond, 2 * time.Second
)

func (s *Store) listenConn(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, s.config)
	if err != nil {
		return nil, err
	}
	if _, err = conn.Exec(ctx, "LISTEN "+s.channel); err == nil {
		_, err = conn.Exec(ctx, "SELECT pg_advisory_lock_shared($1)", s.life)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
	}
	return conn, nil
}

// listen passes other instances' signals on until ctx ends. What was missed while the connection was away nobody repeats,
// so it says when that begins and ends.
func (s *Store) listen(ctx context.Context, conn *pgx.Conn) {
	for {
		s.receive(ctx, conn)
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		_ = conn.Close(closing) // it is given up either way
		cancel()
		if ctx.Err() != nil {
			return
		}
		s.listeners.Tell(store.Signal{Lost: true})
		var err error
		for pause := firstPause; ; pause = min(2*pause, longestPause) {
			if conn, err = s.listenConn(ctx); err == nil {
				break
			}
			waiting, cancel := context.WithTimeout(ctx, pause)
			<-waiting.Done()
			cancel()
			if ctx.Err() != nil {
				return
			}
		}
		s.listeners.Tell(store.Signal{CatchUp: true})
	}
}

// receive returns when the connection is of no use any more.
func (s *Store) receive(ctx context.Context, conn *pgx.Conn) {
	events := newAssembly()
	for {
		payload, err := next(ctx, conn)
		if err != nil {
			return
		}
		var n note
		if json.Unmarshal([]byte(payload), &n) != nil || n.From == s.self {
			continue // not of this program, or of this instance, which has told its own listeners
		}
		if n.Event == "" {
			s.listeners.Tell(n.signal())
			continue
		}
		if e, whole := events.add(n); whole {
			s.listeners.Tell(store.Signal{Tenant: n.Tenant, Ephemeral: e})
		}
	}
}

// next waits for a notification, and asks now and then whether anybody is there: a link that was cut says nothing.
func next(ctx context.Context, conn *pgx.Conn) (payload string, err error) {
	for {
		wait, cancel := context.WithTimeout(ctx, pulse)
		n, err := conn.WaitForNotification(wait)
		cancel()
		switch {
		case err == nil:
			return n.Payload, nil
		case ctx.Err() != nil || conn.IsClosed():
			return "", err
		}
		ask, cancel := context.WithTimeout(ctx, connectLimit)
		err = conn.Ping(ask)
		cancel()
		if err != nil {
			return "", fmt.Errorf("the database doesn't answer: %w", err)
		}
	}
}
