package observe

import (
	"strings"
	"time"
)

// Instant reads a time as RFC 3339 writes it, and says false where the text is none. Its T and Z may be small letters
// (RFC 3339 §5.6), which Go's own reader refuses.
func Instant(text string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t, err = time.Parse(time.RFC3339, strings.ToUpper(text))
	}
	if err != nil {
		return time.Time{}, false
	}
	return t, true
}
