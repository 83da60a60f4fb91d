package render

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/wopwitness/wopwitness/witness"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// traced is what a trace shows of anything in an observation that has a request: an exchange, or a stream.
type traced struct {
	observe.Exchange
	Chunks []observe.Chunk   `json:"chunks"`
	End    observe.StreamEnd `json:"end"`
}

// Trace writes every exchange of a record in the order of sending, each as the curl command that repeats it and the
// answer that came. Keys are shown as the shell variables that the command line reads them from.
func Trace(out io.Writer, r witness.Record, baseURL string) {
	fmt.Fprintf(out, "── %s, major %d\n", r.Leg, r.Major)
	var observation any
	if err := json.Unmarshal(r.Observation, &observation); err != nil {
		fmt.Fprintln(out, "   nothing was sent")
		return
	}
	var found []traced
	collect(observation, &found)
	slices.SortStableFunc(found, func(a, b traced) int { return int(a.SentAt - b.SentAt) })
	for _, t := range found {
		t.write(out, baseURL)
	}
}

// collect finds the exchanges in any observation by their form: each leg has its own type, and all hold the same parts.
func collect(v any, found *[]traced) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			collect(item, found)
		}
	case map[string]any:
		if _, ok := v["request"].(map[string]any); ok {
			raw, err := json.Marshal(v)
			var t traced
			if err == nil && json.Unmarshal(raw, &t) == nil {
				*found = append(*found, t)
			}
			return
		}
		for _, name := range sortedKeys(v) {
			collect(v[name], found)
		}
	}
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (t traced) write(out io.Writer, baseURL string) {
	label := ""
	if t.Label != "" {
		label = "  # " + Plain(t.Label)
	}
	fmt.Fprintf(out, "%9.3fs  %s%s\n", t.SentAt.Duration().Seconds(), Curl(t.Request, baseURL, len(t.Chunks) > 0), label)
	if t.Response != nil {
		fmt.Fprintf(out, "            %s %d\n", Plain(t.Response.Proto), t.Response.Status)
		for _, h := range t.Response.Headers {
			fmt.Fprintf(out, "            %s: %s\n", Plain(h.Name), Plain(h.Value))
		}
		if len(t.Response.Body) > 0 {
			fmt.Fprintf(out, "            %s\n", brief(t.Response.Body.String(), 4000))
		}
	}
	for _, c := range t.Chunks {
		fmt.Fprintf(out, "%9.3fs    %s\n", c.At.Duration().Seconds(), brief(c.Bytes.String(), 4000))
	}
	if t.Failure != nil {
		fmt.Fprintf(out, "            failed: %s: %s\n", t.Failure.Kind, Plain(t.Failure.Text))
	}
	if t.End != "" {
		fmt.Fprintf(out, "            ended by the %s\n", t.End)
	}
}

// Curl is the request as a shell command.
func Curl(r observe.Request, baseURL string, stream bool) string {
	var b strings.Builder
	b.WriteString("curl -i")
	if stream {
		b.WriteString(" -N")
	}
	if r.Method != "GET" {
		b.WriteString(" -X " + quoted(r.Method))
	}
	for _, h := range r.Headers {
		if strings.EqualFold(h.Name, "Content-Length") || strings.EqualFold(h.Name, "Host") {
			continue
		}
		b.WriteString(" -H " + quoted(h.Name+": "+h.Value))
	}
	if len(r.Body) > 0 {
		b.WriteString(" --data-raw " + quoted(r.Body.String()))
	}
	b.WriteString(" " + quoted(strings.TrimSuffix(baseURL, "/")+r.Target))
	return b.String()
}

// keyVariables gives the shell variables that stand for the recorder's markers.
func keyVariables() map[string]string {
	return map[string]string{
		observe.CredentialA:         "OPENWOP_API_KEY",
		observe.CredentialB:         "OPENWOP_TEST_TENANT_B_API_KEY",
		observe.CredentialLow:       "OPENWOP_TEST_LOW_SCOPE_KEY",
		observe.CredentialWorkspace: "WORKSPACE_KEY",
		observe.CredentialBad:       "NO_SUCH_KEY",
	}
}

// quoted is one word of a POSIX shell. A marker becomes a variable in double quotes between the single-quoted parts.
func quoted(text string) string {
	word := "'" + strings.ReplaceAll(Plain(text), "'", `'\''`) + "'"
	for credential, variable := range keyVariables() {
		word = strings.ReplaceAll(word, observe.Marker(credential), `'"$`+variable+`"'`)
	}
	if short, ok := strings.CutSuffix(word, `"''`); ok {
		return short + `"`
	}
	return word
}
