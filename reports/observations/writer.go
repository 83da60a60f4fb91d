package observations

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/witness"
)

// Writer writes one file, each record as soon as its leg ends, so that a run which is killed leaves what it had. It is
// for one goroutine.
type Writer struct {
	out     io.Writer
	records int
}

// NewWriter writes the first line.
func NewWriter(out io.Writer, run Run) (*Writer, error) {
	run.Format = Format
	w := &Writer{out: out}
	return w, w.write(struct {
		Run Run `json:"run"`
	}{run})
}

// Record writes one leg's record.
func (w *Writer) Record(r witness.Record) error {
	w.records++
	if len(r.Observation) == 0 || !ledger.IsCompact(r.Observation) {
		return w.write(r)
	}
	// An observation of megabytes that is compact already is not compacted again. It is the last member of its record.
	observation := r.Observation
	r.Observation = nil
	var line bytes.Buffer
	head := &Writer{out: &line}
	if err := head.write(r); err != nil {
		return err
	}
	line.Truncate(line.Len() - len("}\n"))
	line.WriteString(`,"observation":`)
	line.Write(observation)
	line.WriteString("}\n")
	if _, err := w.out.Write(line.Bytes()); err != nil {
		return fmt.Errorf("write observations: %w", err)
	}
	return nil
}

// End writes the last line. It does not close what it writes to.
func (w *Writer) End(interrupted bool) error {
	return w.write(struct {
		End End `json:"end"`
	}{End{Records: w.records, Interrupted: interrupted}})
}

// write encodes without HTML escapes, so that an observation's bytes in the line are its compact JSON, over which the
// ledger takes the digest.
func (w *Writer) write(v any) error {
	e := json.NewEncoder(w.out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write observations: %w", err)
	}
	return nil
}
