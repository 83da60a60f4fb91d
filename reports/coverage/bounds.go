package coverage

import (
	"bytes"
	"fmt"
	"strings"
)

// Limits on a text from a stranger. The Markdown parser takes the square of how deep one line nests quotes and lists, and of
// how many delimiters stand in one paragraph, so a small text can keep it busy for hours; no RFC comes near.
const (
	maxDocument = 1 << 20     // bytes
	maxNesting  = 200         // quotes and lists that one line opens
	maxTangle   = 100_000_000 // squares of the delimiters of each paragraph, summed: 10,000 in one
)

// bounded says why a text is not read, nil for any that is.
func bounded(source []byte) error {
	if len(source) > maxDocument {
		return fmt.Errorf("the document has more than %d bytes, and no RFC is that long", maxDocument)
	}
	delimiters, tangle, number := 0, 0, 0
	for line := range bytes.Lines(source) {
		number++
		if deep := nested(line); deep > maxNesting {
			return fmt.Errorf("line %d opens %d quotes and lists in each other, more than %d", number, deep, maxNesting)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			delimiters = 0
			continue
		}
		for _, c := range line {
			if strings.IndexByte("*_[]!<`~", c) >= 0 {
				tangle += 2*delimiters + 1 // what one more adds to the square
				delimiters++
			}
		}
		if tangle > maxTangle {
			return fmt.Errorf("line %d: the paragraphs up to there hold too many delimiters (* _ [ ] ! < ` ~) to be read in reasonable time; part them by empty lines", number)
		}
	}
	return nil
}

// nested counts the marks of quotes and lists that a line begins with.
func nested(line []byte) int {
	if rule := bytes.TrimSpace(line); len(bytes.Trim(rule, "-*")) == 0 && bytes.IndexByte(rule, ' ') < 0 {
		return 0 // a line that parts or underlines, and opens nothing
	}
	deep := 0
	for _, c := range line {
		switch {
		case strings.IndexByte(">-+*", c) >= 0:
			deep++
		case c == '.' || c == ')': // of "1." and "1)"
			deep++
		case c >= '0' && c <= '9', c == ' ', c == '\t':
		default:
			return deep
		}
	}
	return deep
}
