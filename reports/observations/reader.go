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
		raw, whole, err := readLine(lines)
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
		if number > 1 && !whole && errors.Is(err, io.ErrUnexpectedEOF) {
			break // the file ends in the middle of a line, as where the disk was full
		}
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

// readLine gives the next line without its end, and whether it had one; io.EOF where there is no line.
func readLine(r *bufio.Reader) (line []byte, whole bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, false, fmt.Errorf("longer than %d bytes", maxLine)
		}
		switch {
		case err == nil:
			return line[:len(line)-1], true, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, false, nil
		default:
			return nil, false, err
		}
	}
}
