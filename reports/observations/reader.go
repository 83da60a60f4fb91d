package observations

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/wopwitness/wopwitness/witness"
)

// Limits on a file from a stranger.
const (
	maxLine    = 256 << 20 // bytes of one line: a leg that reads several bounded streams fits
	maxRecords = 10_000
	maxFile    = 1 << 30 // bytes of the whole, since all of it is held while it is judged; a full run writes under 10 MiB
)

// File is what stands around the records of a file. End is nil where the last line is missing.
type File struct {
	Run Run
	End *End
}

// Read reads a file line by line and hands each record on; at most one line is held at a time. It stops at the first
// error of visit. Any other error names the line that is not what it should be.
func Read(in io.Reader, visit func(witness.Record) error) (File, error) {
	var (
		file    File
		records int
	)
	limited := &io.LimitedReader{R: in, N: maxFile + 1}
	lines := bufio.NewReaderSize(limited, 64<<10)
	for number := 1; ; number++ {
		raw, err := readLine(lines)
		if limited.N <= 0 {
			return file, fmt.Errorf("line %d: the file has more than %d bytes", number, maxFile)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return file, fmt.Errorf("line %d: %w", number, err)
		}
		l, err := decode(raw)
		if err != nil {
			return file, fmt.Errorf("line %d: %w", number, err)
		}
		switch {
		case number == 1:
			if l.Run == nil || l.Run.Format != Format {
				return file, fmt.Errorf("line 1: this is not a file of the form %s", Format)
			}
			file.Run = *l.Run
		case file.End != nil:
			return file, fmt.Errorf("line %d: there is more after the line that ends the run", number)
		case l.End != nil:
			if l.End.Records != records {
				return file, fmt.Errorf("line %d: the run wrote %d records and the file has %d", number, l.End.Records, records)
			}
			file.End = l.End
		case l.Leg == "" || l.Run != nil:
			return file, fmt.Errorf("line %d: not the record of a leg", number)
		default:
			if records++; records > maxRecords {
				return file, fmt.Errorf("line %d: more than %d records", number, maxRecords)
			}
			if err := visit(l.Record); err != nil {
				return file, err
			}
		}
	}
	if file.Run.Format == "" {
		return file, errors.New("the file is empty")
	}
	return file, nil
}

func decode(raw []byte) (line, error) {
	var l line
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return l, fmt.Errorf("not a line of this form: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return l, errors.New("more than one JSON value")
	}
	return l, nil
}

// readLine gives the next line without its end, io.EOF where there is none.
func readLine(r *bufio.Reader) ([]byte, error) {
	var whole []byte
	for {
		part, err := r.ReadSlice('\n')
		whole = append(whole, part...)
		if len(whole) > maxLine {
			return nil, fmt.Errorf("longer than %d bytes", maxLine)
		}
		switch {
		case err == nil:
			return whole[:len(whole)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(whole) > 0:
			return whole, nil
		default:
			return nil, err
		}
	}
}
