package pgtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// Disk is a small disk on which the tables of a cluster's database are; its write-ahead log is elsewhere.
type Disk struct {
	t      *testing.T
	folder string
}

// smallDisk is the size in bytes: enough for the tables without their rows.
const smallDisk = 4 << 20

// NewDisk puts the tables that are made from now on on a small disk of their own. Only root may mount one; without that the
// test is skipped.
func (c *Cluster) NewDisk() *Disk {
	c.t.Helper()
	if os.Getuid() != 0 {
		c.t.Skip("no small disk to fill: only root may mount one")
	}
	d := &Disk{t: c.t, folder: filepath.Join(filepath.Dir(c.data), "disk")}
	if err := os.Mkdir(d.folder, 0o700); err != nil {
		c.t.Fatal(err)
	}
	mount := exec.CommandContext(c.t.Context(), "mount", "-t", "tmpfs", "-o", "mode=755,size="+strconv.Itoa(smallDisk), "none", d.folder) //nolint:gosec // of the test's own folder
	if out, err := mount.CombinedOutput(); err != nil {
		c.t.Skipf("no small disk to fill: it can't be mounted here: %v: %s", err, out)
	}
	c.t.Cleanup(func() {
		c.Stop(syscall.SIGQUIT)
		if err := syscall.Unmount(d.folder, 0); err != nil {
			c.t.Errorf("unmount %s: %v", d.folder, err)
		}
	})
	tables := filepath.Join(d.folder, "tables")
	if err := errors.Join(os.Mkdir(tables, 0o700), os.Chown(tables, c.uid, -1)); err != nil {
		c.t.Fatal(err)
	}
	c.Exec("CREATE TABLESPACE small LOCATION '"+tables+"'", "ALTER DATABASE postgres SET default_tablespace = small")
	return d
}

func (d *Disk) ballast() string { return filepath.Join(d.folder, "ballast") }

// Fill takes the room that is left.
func (d *Disk) Fill() {
	d.t.Helper()
	f, err := os.Create(d.ballast())
	if err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for block := make([]byte, 4096); err == nil; {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		d.t.Fatalf("fill the disk: %v", err)
	}
}

// Free gives it back.
func (d *Disk) Free() {
	d.t.Helper()
	if err := os.Remove(d.ballast()); err != nil {
		d.t.Fatal(err)
	}
}
