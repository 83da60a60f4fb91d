package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestServeRefusesAFileThatAnotherProcessHasOpen(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	store := "sqlite:" + filepath.Join(t.TempDir(), "w.db")
	url := supervised(t, store, cancel)
	if err := untilUp(ctx, url); err != nil {
		t.Fatal(err)
	}
	want := `store "` + store + `": another process has this file open; several processes are one host over postgres:// only`
	for name, args := range map[string][]string{
		"serve":      {"serve", "--addr", "127.0.0.1:0", "--store", store},
		"supervised": {"serve", "--supervise", "--addr", "127.0.0.1:0", "--store", store},
		"certify":    {"certify", "--leg", "0250.cursor-refused", "--store", store},
	} {
		got := invoke(t, nil, args...)
		if got.code != 2 || !strings.Contains(got.stderr, want) || strings.Count(got.stderr, "\n") != 1 || got.stdout != "" {
			t.Errorf("%s: exit %d, %s%s", name, got.code, got.stdout, got.stderr)
		}
	}
	if status, text, err := request(ctx, "POST", url+"/host/events/test", `{"delivery":"durable"}`); err != nil || status/100 != 2 {
		t.Errorf("the one that has it: %d %s, %v", status, text, err)
	}
}
