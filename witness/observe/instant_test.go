package observe

import (
	"testing"
	"time"
)

func TestInstantReadsWhatRFC3339Allows(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	for _, c := range []struct {
		text string
		want time.Time
		ok   bool
	}{
		{"2026-01-02T03:04:05.678Z", at, true},
		{"2026-01-02t03:04:05.678z", at, true},
		{"2026-01-02T03:04:05.678z", at, true},
		{"2026-01-02T08:34:05.678000+05:30", at, true},
		{"2026-01-02t08:34:05.678+05:30", at, true},
		{"2026-01-02T03:04:05.678-00:00", at, true},
		{"2026-01-02 03:04:05.678Z", time.Time{}, false},
		{"2026-01-02T03:04:05.678", time.Time{}, false},
		{"2026-13-02t03:04:05z", time.Time{}, false},
		{"", time.Time{}, false},
	} {
		got, ok := Instant(c.text)
		if ok != c.ok || ok && !got.Equal(c.want) {
			t.Errorf("%q is %v, %v; want %v, %v", c.text, got, ok, c.want, c.ok)
		}
	}
}
