package bench

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/bench/limits"
)

// The sizes of the resume row.
const (
	longBacklog  = 100_000
	shortBacklog = 10_000
	resumeTime   = time.Minute // for one resume at most
	// memoryGrowth is how much more memory the long backlog may cost than the short one, in MiB. Held in memory, the
	// difference would be about forty.
	memoryGrowth = 12
)

// resume measures how fast a backlog is streamed, and that the host's memory doesn't grow with it.
func (b *bench) resume(ctx context.Context, row *Row) (err error) {
	short, err := b.resumeOnce(ctx, shortBacklog)
	if err != nil && !errors.Is(err, errNoMemory) {
		return err
	}
	b.Progress(fmt.Sprintf("%s: writing %d events", row.Name, longBacklog))
	f, err := b.fill(ctx, longBacklog)
	if err != nil {
		return err
	}
	host, err := b.startHost(ctx, onDisk(f.path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, host.stop()) }()
	db, err := limits.OpenDB(f.path, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	stream := func(ctx context.Context) (float64, error) { return host.backlog(ctx, f) }
	scan := func(ctx context.Context) (float64, error) { return scanRate(ctx, db, f) }
	if _, err := stream(ctx); err != nil {
		return err
	}
	long, peakErr := host.peak()
	if err := b.pairs(ctx, row, 1, stream, scan); err != nil {
		return err
	}
	row.mustReach("of the limit", row.Ratio, 0.5, "")
	if peakErr != nil {
		row.Notes = append(row.Notes, peakErr.Error())
		return nil
	}
	row.mustNotPass("memory more than for a tenth of it", max(0, long-short), memoryGrowth, "MiB")
	return nil
}

// resumeOnce gives the peak memory of a host that streamed a backlog of n events, in MiB.
func (b *bench) resumeOnce(ctx context.Context, n int) (peak float64, err error) {
	f, err := b.fill(ctx, n)
	if err != nil {
		return 0, err
	}
	host, err := b.startHost(ctx, onDisk(f.path))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, host.stop()) }()
	if _, err := host.backlog(ctx, f); err != nil {
		return 0, err
	}
	return host.peak()
}

// backlog resumes at the oldest event and gives events per second, from the request to the last one.
func (t target) backlog(ctx context.Context, f filled) (rate float64, err error) {
	start := time.Now()
	r, err := t.subscribe(ctx, f.first)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.until(f.events-1, start.Add(resumeTime)); err != nil {
		return 0, fmt.Errorf("%d of %d events were resumed: %w", r.frames, f.events-1, err)
	}
	return float64(r.frames) / time.Since(start).Seconds(), nil
}

// scanRate reads the same rows and columns in the same order, in one pass and without keeping any.
func scanRate(ctx context.Context, db *sql.DB, f filled) (rate float64, err error) {
	start := time.Now()
	rows, err := db.QueryContext(ctx, `SELECT seq, id, type, workspace, at, envelope FROM events WHERE tenant = ? AND seq > 1 ORDER BY seq`, f.tenant)
	if err != nil {
		return 0, fmt.Errorf("scan: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var (
		seq, at                     int64
		id, typ, workspace, payload sql.RawBytes
		n                           int
	)
	for rows.Next() {
		if err := rows.Scan(&seq, &id, &typ, &workspace, &at, &payload); err != nil {
			return 0, fmt.Errorf("scan: %w", err)
		}
		n++
	}
	if err := rows.Err(); err != nil {
		return 0, fmt.Errorf("scan: %w", err)
	}
	if n != f.events-1 {
		return 0, fmt.Errorf("scan: expected %d rows, got %d", f.events-1, n)
	}
	return float64(n) / time.Since(start).Seconds(), nil
}
