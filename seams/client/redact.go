package client

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/witness/observe"
)

// A key shorter than shortKey would be found by chance in ordinary text, so only "Bearer <key>" is replaced. A base64
// core shorter than shortCore is left for the same reason.
const (
	shortKey  = 6
	shortCore = 8
)

// cutMark takes the place of the beginning of a key at which a stream ended. It is not a marker: nothing leaked whole.
const cutMark = "{{cut}}"

// forms are the texts that stand for a secret, each with what replaces it; the longest first, so that a key that begins
// like another is never half replaced.
type forms struct {
	all     []form
	byFirst [256][]form
	longest int
}

type form struct {
	text   string
	lower  string // text in lower case, for names that come in any
	marker string
}

func newForms(keys map[string]string, headers []observe.Header) *forms {
	texts := map[string]string{}
	add := func(marker, text string) {
		if _, taken := texts[text]; !taken && text != "" {
			texts[text] = marker
		}
	}
	for _, credential := range sortedKeys(keys) {
		secret(keys[credential], observe.Marker(credential), add)
	}
	for _, h := range headers {
		if secretName(h.Name) && len(h.Value) >= shortKey {
			secret(h.Value, headerMarker(h.Name), add)
		}
	}
	f := &forms{}
	for text, marker := range texts {
		f.all = append(f.all, form{text, strings.ToLower(text), marker})
		f.longest = max(f.longest, len(text))
	}
	slices.SortFunc(f.all, func(a, b form) int {
		if len(a.text) != len(b.text) {
			return len(b.text) - len(a.text)
		}
		return strings.Compare(a.text, b.text)
	})
	for _, one := range f.all {
		f.byFirst[one.text[0]] = append(f.byFirst[one.text[0]], one)
	}
	return f
}

// secret adds every form of one key.
func secret(key, marker string, add func(marker, text string)) {
	if len(key) < shortKey {
		// The scheme stays readable, and nothing but a credential looks like this.
		add("Bearer "+marker, "Bearer "+key)
		add("Bearer "+marker, "bearer "+key)
		return
	}
	add(marker, key)
	add(marker, url.QueryEscape(key))
	add(marker, url.PathEscape(key))
	add(marker, lowerHex(url.QueryEscape(key)))
	add(marker, lowerHex(url.PathEscape(key)))
	add(marker, percentAll(key))
	add(marker, strings.ToLower(percentAll(key)))
	add(marker, ProjectID(key))
	if quoted, err := json.Marshal(key); err == nil {
		inner := string(quoted[1 : len(quoted)-1])
		add(marker, inner)
		add(marker, strings.ReplaceAll(inner, "/", `\/`))
	}
	for _, text := range []string{key, "Bearer " + key} {
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			add(marker, e.EncodeToString([]byte(text)))
		}
	}
	// Within a longer text ("user:key", a JSON object) the key's base64 depends on where it starts. Each of the three
	// cases has a core that depends on the key alone.
	for before := range 3 {
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if core := base64Core(e, key, before); len(core) >= shortCore {
				add(marker, core)
			}
		}
	}
}

func base64Core(e *base64.Encoding, key string, before int) string {
	padded := string(make([]byte, before)) + key
	text := e.EncodeToString([]byte(padded))
	from := (before*8 + 5) / 6 // the first digit made of the key's bits alone
	to := len(padded) * 8 / 6  // and the end of the last one
	if from >= to {
		return ""
	}
	return text[from:to]
}

func percentAll(s string) string {
	var b strings.Builder
	for i := range len(s) {
		b.WriteByte('%')
		b.WriteString(hexByte(s[i]))
	}
	return b.String()
}

// lowerHex lowers the digits of percent escapes and nothing else.
func lowerHex(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], bytes.ToLower(b[i+1:i+3]))
			i += 2
		}
	}
	return string(b)
}

func secretName(name string) bool {
	lower := strings.ToLower(name)
	for _, part := range []string{"auth", "token", "key", "secret", "cookie", "credential"} {
		if strings.Contains(lower, part) {
			return true
		}
	}
	return false
}

func headerMarker(name string) string { return "{{header:" + http.CanonicalHeaderKey(name) + "}}" }

// match gives the form that starts at b[i], if one does.
func (f *forms) match(b []byte, i int) (form, bool) {
	for _, one := range f.byFirst[b[i]] {
		if len(b)-i >= len(one.text) && string(b[i:i+len(one.text)]) == one.text {
			return one, true
		}
	}
	return form{}, false
}

// couldGrow says whether b[i:] is a beginning, and no more, of some form.
func (f *forms) couldGrow(b []byte, i int) bool {
	rest := b[i:]
	for _, one := range f.byFirst[b[i]] {
		if len(rest) < len(one.text) && one.text[:len(rest)] == string(rest) {
			return true
		}
	}
	return false
}

func (f *forms) replaceAll(b []byte) []byte {
	out, _ := f.replace(b, false)
	return out
}

// inName is a header's name without the keys in it. Names come in any case, and the library changes it.
func (f *forms) inName(name string) string {
	for _, one := range f.all {
		for {
			if len(name) < len(one.text) {
				break
			}
			at := strings.Index(strings.ToLower(name), one.lower)
			if at < 0 {
				break
			}
			name = name[:at] + one.marker + name[at+len(one.text):]
		}
	}
	return name
}

// replace writes b with every form replaced. Where more may follow, it stops before a suffix that could be the beginning
// of a form and gives that suffix back. out is b itself where nothing was replaced or held.
func (f *forms) replace(b []byte, more bool) (out, held []byte) {
	var changed []byte
	copied := 0
	for i := 0; i < len(b); {
		if len(f.byFirst[b[i]]) == 0 {
			i++
			continue
		}
		// A longer form may still be coming where a shorter one is there already, so the end is held first.
		if more && len(b)-i < f.longest && f.couldGrow(b, i) {
			held = b[i:]
			b = b[:i]
			break
		}
		one, found := f.match(b, i)
		if !found {
			i++
			continue
		}
		changed = append(changed, b[copied:i]...)
		changed = append(changed, one.marker...)
		i += len(one.text)
		copied = i
	}
	if changed == nil {
		return b, held
	}
	return append(changed, b[copied:]...), held
}

// Redactor replaces keys in a stream that comes in pieces. A suffix that could be the beginning of a key is held back
// until the next piece decides. It is not safe for concurrent use.
type Redactor struct {
	forms *forms
	held  []byte
}

// Redactor gives a redactor at the start of a stream.
func (c *Client) Redactor() *Redactor { return &Redactor{forms: c.secrets} }

// Feed takes the next piece and gives what can be said of the stream so far; the result is the caller's.
func (r *Redactor) Feed(b []byte) []byte {
	joined := make([]byte, 0, len(r.held)+len(b))
	joined = append(append(joined, r.held...), b...)
	out, held := r.forms.replace(joined, true)
	r.held = slices.Clone(held)
	return out
}

// Flush gives what was held back when the stream is over. What may be the larger part of a key that the end cut off is
// not shown.
func (r *Redactor) Flush() []byte {
	held := r.held
	r.held = nil
	out, _ := r.forms.replace(held, false)
	if len(held) >= shortKey && bytes.Equal(out, held) {
		for _, one := range r.forms.byFirst[held[0]] {
			if strings.HasPrefix(one.text, string(held)) && 2*len(held) >= len(one.text) {
				return []byte(cutMark)
			}
		}
	}
	return out
}

func sortedKeys(m map[string]string) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
