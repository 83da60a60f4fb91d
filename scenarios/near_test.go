package scenarios

import "testing"

// TestNearMissIsAnotherIdThatBeginsAlike holds the cursor that is nearly an event's to what it is for.
func TestNearMissIsAnotherIdThatBeginsAlike(t *testing.T) {
	for _, c := range []struct{ name, id, want string }{
		{"a ULID", "01JABCDEFGHJKMNPQRSTVWXYZ0", "01JABCDEFGHJKMNPQRIJLMNOP5"},
		{"a UUID", "9b2f6c1e-0d3a-4c5b-8e7f-112233445566", "9b2f6c1e-0d3a-4c5b-8e7f-667788990011"},
		{"nothing to change at its end, which is not asked for", "event-1234------", "event-1234------"},
	} {
		if got := NearMiss(c.id); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
