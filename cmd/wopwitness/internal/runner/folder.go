package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/wopwitness/wopwitness/reports/attest"
	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/reports/observations"
	"github.com/wopwitness/wopwitness/reports/render"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

// The names of the reports in their folder.
const (
	ObservationsFile = "observations.jsonl"
	junitFile        = "junit.xml"
	pageFile         = "report.html"
	summaryFile      = "summary.md"
)

// BundleFile is the name of a major's bundle.
func BundleFile(major int) string { return fmt.Sprintf("bundle-v%d.json", major) }

// AttestationFile is the name of a major's attestation.
func AttestationFile(major int) string { return fmt.Sprintf("attestation-v%d.json", major) }

// written are the names of what is written at a run's end.
func written() []string {
	return []string{BundleFile(1), BundleFile(2), AttestationFile(1), AttestationFile(2), junitFile, summaryFile, pageFile}
}

// folder is where the reports go. With no path it takes everything and writes nothing.
type folder struct {
	path    string
	file    *os.File
	writer  *observations.Writer
	earlier []string // the names under which an earlier run left something
	made    []string // what was not there before, the innermost first
}

// openFolder makes the folder and proves that it can be written to, before anything is sent to a host. What an earlier
// run left there is still whole afterwards: replace takes it away, leave keeps it.
func openFolder(path string) (*folder, error) {
	f := &folder{path: path}
	if path == "" {
		return f, nil
	}
	made, err := makeFolder(path)
	if err != nil {
		return nil, err
	}
	file, fresh, err := claim(filepath.Join(path, ObservationsFile))
	switch {
	case errors.Is(err, errTaken):
		return nil, fmt.Errorf("--out %s: another run is writing its reports there: wait for its end, or name another folder", path)
	case err != nil:
		return nil, fmt.Errorf("--out %s cannot be written to: %w", path, err)
	}
	f.file, f.made = file, made
	if fresh {
		f.made = append([]string{f.transcript()}, made...)
	}
	for _, name := range append([]string{ObservationsFile}, written()...) {
		if info, err := os.Lstat(filepath.Join(path, name)); err == nil && info.Size() > 0 {
			f.earlier = append(f.earlier, name)
		}
	}
	if f.holdsOthers() {
		names := strings.Join(f.earlier, ", ")
		f.earlier = nil
		f.abandon()
		return nil, fmt.Errorf("--out %s holds %s, and neither the observations nor a bundle of a run, so these may be somebody's own: name another folder, or move them", path, names)
	}
	return f, nil
}

// holdsOthers says whether files stand under the names of reports where no run can have left them: each run leaves its
// observations, and one that ends a bundle.
func (f *folder) holdsOthers() bool {
	return len(f.earlier) > 0 && !slices.ContainsFunc(f.earlier, func(name string) bool {
		return name == ObservationsFile || name == BundleFile(1) || name == BundleFile(2)
	})
}

// abandon takes away what openFolder made, for a run that was refused before it began.
func (f *folder) abandon() {
	for _, path := range f.made {
		_ = os.Remove(path) // a folder that somebody put something into meanwhile stays
	}
	f.close()
}

// replace takes away what an earlier run left under the names of the reports, and says so: files of two runs must not
// stand beside each other.
func (f *folder) replace(messages io.Writer) error {
	if f.file == nil {
		return nil
	}
	if len(f.earlier) > 0 {
		fmt.Fprintf(messages, "an earlier run's files in %s are removed and this run's take their place: %s\n", render.Plain(f.path), strings.Join(f.earlier, ", "))
	}
	for _, name := range written() {
		if err := os.Remove(filepath.Join(f.path, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("--out %s: an earlier report cannot be replaced: %w", f.path, err)
		}
	}
	if err := f.file.Truncate(0); err != nil {
		return fmt.Errorf("--out %s: an earlier report cannot be replaced: %w", f.path, err)
	}
	return nil
}

// leave keeps an earlier run's files, says so and from then on writes nothing: a run that observed nothing is no
// replacement for one that did.
func (f *folder) leave(messages io.Writer) error {
	fmt.Fprintf(messages, "this run observed nothing, so it writes no reports and leaves an earlier run's files in %s as they are\n", render.Plain(f.path))
	var err error
	if !slices.Contains(f.earlier, ObservationsFile) {
		err = os.Remove(f.transcript()) // openFolder made it, or it was empty
	}
	err = errors.Join(err, f.file.Close())
	f.path, f.file = "", nil
	return err
}

// close lets go of the file; after finish it has nothing left to do.
func (f *folder) close() {
	if f.file != nil {
		_ = f.file.Close()
	}
}

func (f *folder) transcript() string {
	if f.path == "" {
		return ""
	}
	return filepath.Join(f.path, ObservationsFile)
}

func (f *folder) begin(o Options, cases []registry.Case) error {
	if f.file == nil {
		return nil
	}
	var err error
	f.writer, err = observations.NewWriter(f.file, observations.Run{
		Suite: o.SuiteVersion, BaseURL: o.Host.BaseURL, Policy: o.Policy, Cases: observations.Named(cases),
	})
	return err
}

func (f *folder) record(r witness.Record) error {
	if f.writer == nil {
		return nil
	}
	return f.writer.Record(r)
}

// finish ends the observations, writes the other reports and lets go of the folder.
func (f *folder) finish(r *live, l ledger.Ledger, bundles []bundle.Bundle, ending render.Ending) error {
	if f.path == "" {
		return nil
	}
	err := f.writer.End(l.Interrupted)
	if err == nil && !r.options.Bare {
		err = f.reports(r, l, bundles, ending)
	}
	err = errors.Join(err, f.file.Close())
	f.file = nil
	return err
}

// reports writes all but the observations.
func (f *folder) reports(r *live, l ledger.Ledger, bundles []bundle.Bundle, ending render.Ending) error {
	head := render.Head{
		BaseURL: r.options.Host.BaseURL, SuiteVersion: r.options.SuiteVersion, GeneratedAt: time.Now().UTC().Format(time.RFC3339), Ending: ending,
	}
	for _, b := range bundles {
		head.HostName, head.HostVersion, head.GeneratedAt = b.Host.Name, b.Host.Version, b.GeneratedAt
		if b.Host.Build != nil {
			head.Build = b.Host.Build.String()
		}
		for _, short := range b.Shortfalls(l.Major(b.Suite.TargetMajor), l.Interrupted) {
			head.Uncertified = append(head.Uncertified, short.String())
		}
		raw, err := b.JSON()
		if err != nil {
			return err
		}
		if err := f.put(BundleFile(b.Suite.TargetMajor), raw); err != nil {
			return err
		}
		if err := f.attest(b, raw, r.options.Key); err != nil {
			return err
		}
	}
	for _, report := range []struct {
		name  string
		write func(*bytes.Buffer) error
	}{
		{junitFile, func(b *bytes.Buffer) error { return render.JUnit(b, l, ending) }},
		{summaryFile, func(b *bytes.Buffer) error { return render.Summary(b, l, head) }},
		{pageFile, func(b *bytes.Buffer) error { return render.HTML(b, l, head) }},
	} {
		var text bytes.Buffer
		if err := report.write(&text); err != nil {
			return err
		}
		if err := f.put(report.name, text.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// attest writes the same result for public tools, beside a bundle that is signed.
func (f *folder) attest(b bundle.Bundle, file []byte, key *bundle.Key) error {
	if key == nil {
		return nil
	}
	envelope, err := attest.Envelope(context.Background(), b, file, *key)
	if err != nil {
		return fmt.Errorf("major %d: %w", b.Suite.TargetMajor, err)
	}
	return f.put(AttestationFile(b.Suite.TargetMajor), envelope)
}

func (f *folder) put(name string, raw []byte) error {
	if err := os.WriteFile(filepath.Join(f.path, name), raw, 0o644); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
