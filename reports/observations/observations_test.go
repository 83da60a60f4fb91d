package observations_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/reports/ledger"
	"github.com/wopwitness/wopwitness/reports/observations"
	"github.com/wopwitness/wopwitness/scenarios/registry"
	"github.com/wopwitness/wopwitness/witness"
)

func someRun() observations.Run {
	return observations.Run{
		Suite: "0.1.0", BaseURL: "http://host.example", Policy: ledger.Policy{Strict: true, OptedOut: []string{"deadLetter"}},
		Cases: []observations.Case{{Leg: "0250.shape", Major: 2}, {Leg: "0250.cursor-refused", Major: 2}},
	}
}

func someRecords() []witness.Record {
	return []witness.Record{
		{Leg: "0250.shape", Major: 2, Observation: json.RawMessage(`{"body":"<b> & \u2028 \ud83d\ude00","n": 1e3}`)},
		{Leg: "0250.cursor-refused", Major: 2, Cause: "production",
			Stop: &witness.Stop{Result: registry.Inapplicable, Reason: registry.NotAdvertised, Says: "no record"}},
	}
}

func written(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	w, err := observations.NewWriter(&out, someRun())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range someRecords() {
		if err := w.Record(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.End(false); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func readAll(text string) ([]witness.Record, observations.File, error) {
	var records []witness.Record
	file, err := observations.Read(strings.NewReader(text), func(r witness.Record) error {
		records = append(records, r)
		return nil
	})
	return records, file, err
}

func TestWhatIsWrittenReadsBack(t *testing.T) {
	records, file, err := readAll(written(t))
	if err != nil {
		t.Fatal(err)
	}
	want := someRun()
	want.Format = observations.Format
	got, _ := json.Marshal(file.Run)
	expected, _ := json.Marshal(want)
	if string(got) != string(expected) {
		t.Errorf("first line %s, want %s", got, expected)
	}
	if file.End == nil || *file.End != (observations.End{Records: 2}) {
		t.Errorf("last line %+v", file.End)
	}
	if len(records) != 2 || records[1].Stop == nil || *records[1].Stop != *someRecords()[1].Stop {
		t.Errorf("records %+v", records)
	}
}

// TestTheDigestIsOverTheFilesBytes ties a row to the line: what stands in the file is what was digested.
func TestTheDigestIsOverTheFilesBytes(t *testing.T) {
	text := written(t)
	line := strings.Split(text, "\n")[1]
	inFile := `{"body":"<b> & \u2028 \ud83d\ude00","n":1e3}`
	if !strings.Contains(line, `"observation":`+inFile+`}`) {
		t.Fatalf("the line is %s", line)
	}
	before, err := ledger.ObservationDigest(someRecords()[0].Observation)
	if err != nil {
		t.Fatal(err)
	}
	records, _, err := readAll(text)
	if err != nil {
		t.Fatal(err)
	}
	after, err := ledger.ObservationDigest(records[0].Observation)
	if err != nil || before != after || string(records[0].Observation) != inFile {
		t.Errorf("digest %s before and %s after, %v, of %s", before, after, err, records[0].Observation)
	}
}

func TestFilesThatAreNotOfTheForm(t *testing.T) {
	good := strings.Split(strings.TrimSuffix(written(t), "\n"), "\n")
	head, record, end := good[0], good[1], good[3]
	tests := map[string]struct{ text, says string }{
		"empty":                 {"", "the file is empty"},
		"another file":          {`{"a":1}` + "\n", "line 1: not a line of this form"},
		"another version":       {`{"run":{"format":"wopwitness-observations-9"}}`, "line 1: this is not a file of the form wopwitness-observations-1"},
		"no first line":         {record, "line 1: this is not a file of the form wopwitness-observations-1"},
		"a page":                {"<html>", "line 1: not a line of this form"},
		"an unknown member":     {head + "\n" + `{"leg":"a","major":2,"extra":1}`, "line 2: not a line of this form"},
		"a record of no leg":    {head + "\n" + `{"major":2}`, "line 2: not the record of a leg"},
		"the first line twice":  {head + "\n" + head, "line 2: not the record of a leg"},
		"two values on a line":  {head + "\n" + record + record, "line 2: more than one JSON value"},
		"more after the end":    {head + "\n" + `{"end":{"records":0}}` + "\n" + record, "line 3: there is more after the line that ends the run"},
		"a record is missing":   {head + "\n" + record + "\n" + end, "line 3: the run wrote 2 records and the file has 1"},
		"an empty line between": {head + "\n\n" + record, "line 2: not a line of this form"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := readAll(tt.text)
			if err == nil || !strings.HasPrefix(err.Error(), tt.says) {
				t.Errorf("got %v, want it to begin with %q", err, tt.says)
			}
		})
	}
}

func TestARunThatWasCutOffHasNoEnd(t *testing.T) {
	lines := strings.Split(written(t), "\n")
	records, file, err := readAll(lines[0] + "\n" + lines[1])
	if err != nil || file.End != nil || len(records) != 1 {
		t.Errorf("got %d records, end %v, %v", len(records), file.End, err)
	}
}

// A disk that was full, or a process that was killed, ends the file in the middle of a line.
func TestARunThatWasCutOffInALineHasNoEnd(t *testing.T) {
	lines := strings.Split(written(t), "\n")
	for cut := 1; cut < len(lines[2]); cut++ {
		records, file, err := readAll(lines[0] + "\n" + lines[1] + "\n" + lines[2][:cut])
		if err != nil || file.End != nil || len(records) != 1 {
			t.Fatalf("cut after %d bytes: %d records, end %v, %v", cut, len(records), file.End, err)
		}
	}
	if _, _, err := readAll(lines[0] + "\n" + lines[1][:10] + "\n" + lines[2]); err == nil {
		t.Error("a line that is cut off in the middle of the file is taken")
	}
	if _, _, err := readAll(lines[0][:10]); err == nil {
		t.Error("a file without its first line is taken")
	}
}

func TestReadStopsWhereTheVisitorDoes(t *testing.T) {
	enough := errors.New("enough")
	visits := 0
	_, err := observations.Read(strings.NewReader(written(t)), func(witness.Record) error { visits++; return enough })
	if !errors.Is(err, enough) || visits != 1 {
		t.Errorf("got %v after %d visits", err, visits)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"run":{"format":"wopwitness-observations-1","cases":[]}}` + "\n" + `{"leg":"a","major":2,"observation":{}}` + "\n" + `{"end":{"records":1}}`)
	f.Add("{")
	f.Fuzz(func(t *testing.T, text string) {
		records, _, err := readAll(text)
		if err != nil {
			return
		}
		for _, r := range records {
			if r.Leg == "" {
				t.Errorf("a record of no leg was handed on")
			}
		}
	})
}

// TestARecordsLineIsItsJSON: however an observation is spaced, its record's line is the JSON of it, compact.
func TestARecordsLineIsItsJSON(t *testing.T) {
	for _, observation := range []string{"", `{}`, `{"a":"<b> \"}{ &","c":[1,2]}`, `{"a": "<b> \"}{ &", "c": [1, 2]}`, `"text"`, `null`} {
		record := witness.Record{Leg: "0250.shape", Major: 1, Cause: "seam", Observation: json.RawMessage(observation)}
		var want, got bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(record); err != nil {
			t.Fatal(err)
		}
		w, err := observations.NewWriter(&got, someRun())
		if err != nil {
			t.Fatal(err)
		}
		got.Reset()
		if err := w.Record(record); err != nil || got.String() != want.String() {
			t.Errorf("%q is written as\n%swant\n%s%v", observation, got.String(), want.String(), err)
		}
	}
}
