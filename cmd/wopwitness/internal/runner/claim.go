package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// errTaken is the error of claim for a file that another run writes.
var errTaken = errors.New("another run writes there")

// claim opens the file at path for one run until it is closed, or its process is dead: the kernel knows both. What is in
// it stays as it is. made says that there was none. A file system that knows no locks is written to without one.
func claim(path string) (file *os.File, made bool, err error) {
	for {
		_, missing := os.Lstat(path)
		if file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666); err != nil {
			return nil, false, err
		}
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EWOULDBLOCK):
			return nil, false, errors.Join(errTaken, file.Close())
		case err == nil && !stands(path, file), errors.Is(err, syscall.EINTR): // a run that ended meanwhile removed it
			_ = file.Close()
			continue
		}
		return file, missing != nil, nil
	}
}

// stands says whether the path still names the open file.
func stands(path string, file *os.File) bool {
	there, err := os.Stat(path)
	if err != nil {
		return false
	}
	open, err := file.Stat()
	return err == nil && os.SameFile(there, open)
}

// makeFolder makes a folder and those above it, and gives the ones that were not there, the innermost first.
func makeFolder(path string) (made []string, err error) {
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		made = append(made, at)
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return nil, fmt.Errorf("--out %s cannot be made: %w", path, err)
	}
	return made, nil
}
