package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ErrInUse is the error of Open for a file that another Store has open. The heads that a committer keeps and the signals
// to its listeners are one process's, so two over one file would contradict each other.
var ErrInUse = errors.New("another process has this file open; several processes are one host over postgres:// only")

// How long Open waits for a process that is about to end, as the one that a restart replaces, and how often it looks.
const (
	handover = 2 * time.Second
	look     = 10 * time.Millisecond
)

// lock takes the file at path for one Store until the returned file is closed, or its process is dead: the kernel knows
// both. What is locked is a file beside it, which stays: a descriptor of the database's own, once closed, would take the
// locks of SQLite with it (fcntl(2)).
func lock(ctx context.Context, path string) (*os.File, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // two names of one file are one lock
	}
	path += ".lock"
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the store: its folder must be there, and one may write there: %w", err)
	}
	until := time.NewTimer(handover)
	defer until.Stop()
	again := time.NewTicker(look)
	defer again.Stop()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return file, nil
		case errors.Is(err, syscall.EINTR):
			continue
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return nil, errors.Join(fmt.Errorf("lock the store by %s: %w", path, err), file.Close())
		}
		select {
		case <-again.C:
		case <-until.C:
			return nil, errors.Join(ErrInUse, file.Close())
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("lock the store by %s: %w", path, ctx.Err()), file.Close())
		}
	}
}
