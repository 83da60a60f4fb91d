package observe

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTextKeepsEveryByte(t *testing.T) {
	for _, c := range []struct {
		name string
		text Text
		json string
	}{
		{"plain", Text("event: a\n"), `"event: a\n"`},
		{"empty", Text(""), `""`},
		{"not UTF-8", Text{0xff, 0xfe}, `{"base64":"//4="}`},
		{"half a rune", Text("é"[:1]), `{"base64":"ww=="}`},
		{"the replacement rune itself", Text("\ufffd"), `"` + "\ufffd" + `"`},
		{"NUL", Text{0}, `"\u0000"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			raw, err := json.Marshal(c.text)
			if err != nil || string(raw) != c.json {
				t.Fatalf("encoded %s, %v; want %s", raw, err, c.json)
			}
			var back Text
			if err := json.Unmarshal(raw, &back); err != nil || !slices.Equal(back, c.text) {
				t.Errorf("decoded %q, %v; want %q", back, err, c.text)
			}
		})
	}
}

func TestTextRefusesWhatIsNotText(t *testing.T) {
	for _, raw := range []string{`7`, `[1]`, `{"base64":7}`, `{"base64":"*"}`, `true`} {
		var text Text
		if err := json.Unmarshal([]byte(raw), &text); err == nil {
			t.Errorf("%s was read as %q", raw, text)
		}
	}
}

func TestTextRoundTripsAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := Text(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var back Text
		if err := json.Unmarshal(raw, &back); err != nil || !slices.Equal(back, text) {
			t.Fatalf("%q came back as %q, %v", text, back, err)
		}
	})
}

func TestOnlyA200WithTheMediaTypeIsAnOpenStream(t *testing.T) {
	for _, c := range []struct {
		status      int
		contentType string
		want        bool
	}{
		{200, "text/event-stream", true},
		{200, "Text/Event-Stream; charset=utf-8", true},
		{200, "text/html", false},
		{200, "text/event-stream-ish", false},
		{200, "", false},
		{409, "text/event-stream", false},
	} {
		s := Stream{Exchange: Exchange{Response: &Response{Status: c.status, Headers: []Header{{Name: "Content-Type", Value: c.contentType}}}}}
		if got := s.Opened(); got != c.want {
			t.Errorf("%d %q opened: %v, want %v", c.status, c.contentType, got, c.want)
		}
	}
	if (Stream{}).Opened() {
		t.Error("a stream without an answer is open")
	}
}

func TestTheLastAttemptDecides(t *testing.T) {
	e := Emit{Attempts: []Exchange{{SentAt: 1, Response: &Response{Status: 429}}, {SentAt: 9, Response: &Response{Status: 202}}}}
	if e.SentAt() != 9 || e.Answer().Status() != 202 {
		t.Errorf("sent at %d, answered %d", e.SentAt(), e.Answer().Status())
	}
	if (Emit{}).SentAt() != 0 || (Emit{}).Answer().Status() != 0 {
		t.Error("an event that was never sent has an answer")
	}
}

func TestMicrosCountFromTheStart(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if m := Since(start, start.Add(1500*time.Microsecond)); m != 1500 || m.Duration() != 1500*time.Microsecond {
		t.Errorf("Since = %d", m)
	}
}

func TestPlainString(t *testing.T) {
	for raw, want := range map[string]string{`"abc"`: "abc", `""`: "", `"a b~"`: "a b~"} {
		if got, ok := PlainString([]byte(raw)); !ok || got != want {
			t.Errorf("%s: got %q, %v", raw, got, ok)
		}
	}
	for _, raw := range []string{``, `"`, `"a`, `a"`, `null`, `"a\n"`, `"a"b"`, `"é"`, "\"a\tb\"", ` "a"`, "\"\x7f\""} {
		if got, ok := PlainString([]byte(raw)); ok {
			t.Errorf("%q is left to a JSON reader; got %q", raw, got)
		}
	}
}
