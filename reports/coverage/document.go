// Package coverage reads an RFC's Markdown and says which of its requirements are witnessed: by which legs, and which
// wrong hosts those legs are known to convict. What nobody witnesses, and what cites a section that isn't there, is named.
//
// It reads texts that others wrote, so it takes any Markdown there is and judges none of it. It matches a requirement to
// legs of its section by the words that they share, which a person can check at a glance; it doesn't understand either.
// Start with Parse and Compare.
package coverage

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// Document is what matters of an RFC.
type Document struct {
	RFC       string // "0250", "" where the text doesn't say
	Title     string
	Sections  []string // "§A", in the text's order
	Rows      []Row    // the falsifiability table
	Cases     []Case   // the conformance table or list
	Sentences []Sentence
	Tables    []Table // all of them, those that hold no requirement too
}

// Table is one table of the text, and what of it was read.
type Table struct {
	Heading string   `json:"heading"` // the nearest one above it, "" where there is none
	Columns []string `json:"columns"`
	Rows    int      `json:"rows"` // without the head
	Read    int      `json:"read"` // how many of them were
	As      Kind     `json:"as"`
}

// Kind is a closed set of what a table may be.
type Kind string

// The kinds of tables.
const (
	Falsifiability Kind = "falsifiability" // a column Requirement… and one Verdict…
	Conformance    Kind = "conformance"    // a column Id…, under a heading Conformance…
	Head           Kind = "head"           // names the RFC's number
	Other          Kind = "other"          // none of these: it is not read
)

// Row is one line of the falsifiability table.
type Row struct {
	Section     string `json:"section"` // "" where the row names none
	Requirement string `json:"requirement"`
	Observable  string `json:"observable,omitempty"`
	Verdict     string `json:"verdict,omitempty"`
}

// Case is one conformance case that the text promises. ID is a leg's id or the name of a scenario's file.
type Case struct {
	ID   string `json:"id"`
	Says string `json:"says"`
}

// Sentence is one that obliges somebody.
type Sentence struct {
	Section string `json:"section"`
	Keyword string `json:"keyword"` // MUST, MUST NOT, SHOULD, …
	Text    string `json:"text"`
}

// Parse reads a document. Whatever the bytes are, it gives what it finds; the error is for one that is too large or too tangled
// to be read in seconds.
func Parse(source []byte) (Document, error) {
	if err := bounded(source); err != nil {
		return Document{}, err
	}
	source = []byte(strings.ToValidUTF8(string(source), "\uFFFD"))
	root := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader(source))
	r := &reader{source: source, entered: map[string]bool{}}
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		r.block(n)
	}
	return r.Document, nil
}

type reader struct {
	Document
	source  []byte
	entered map[string]bool
	title   string // the nearest heading, as it stands
	section string // of the proposal, "" outside of lettered sections
	heading string // the nearest heading, in lower case
	part    string // the nearest heading of the second level, in lower case
	oblige  string // the keyword of a paragraph that a list completes
}

var (
	rfcNumber = regexp.MustCompile(`\b(?:RFC[ -]?)?(\d{4})\b`)
	lettered  = regexp.MustCompile(`^§?\s*([A-Z])(?:[.:)]|\s+[—–-]|$)`)
	named     = regexp.MustCompile(`^(§[A-Za-z][A-Za-z0-9-]*)`)
	cited     = regexp.MustCompile(`§[A-Za-z][A-Za-z0-9-]*`)
	keywords  = regexp.MustCompile(`\b(MUST NOT|MUST|SHALL NOT|SHALL|SHOULD NOT|SHOULD|REQUIRED|RECOMMENDED)\b`)
)

func (r *reader) block(n ast.Node) {
	switch n := n.(type) {
	case *ast.Heading:
		r.head(n)
	case *east.Table:
		r.table(n)
	case *ast.List:
		r.list(n)
	case *ast.Paragraph, *ast.TextBlock, *ast.Blockquote:
		r.prose(r.text(n))
	}
}

func (r *reader) head(n *ast.Heading) {
	title := r.text(n)
	r.oblige = ""
	if n.Level == 1 && r.Title == "" {
		r.Title = title
		if m := rfcNumber.FindStringSubmatch(title); m != nil {
			r.RFC = m[1]
		}
	}
	r.heading, r.title = strings.ToLower(title), title
	if n.Level <= 2 {
		r.part, r.section = r.heading, ""
	}
	switch {
	case lettered.MatchString(title):
		r.enter("§" + lettered.FindStringSubmatch(title)[1])
	case named.MatchString(title):
		r.enter(named.FindStringSubmatch(title)[1])
	case n.Level <= 3:
		r.section = ""
	}
}

func (r *reader) enter(section string) {
	r.section = section
	if !r.entered[section] {
		r.entered[section] = true
		r.Sections = append(r.Sections, section)
	}
}

// table reads the falsifiability table, the conformance table, and the RFC's number out of its head.
func (r *reader) table(n *east.Table) {
	var columns []string
	seen := Table{Heading: r.title, Columns: []string{}, As: Other}
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, r.text(cell))
		}
		if columns == nil {
			seen.Columns = append(seen.Columns, cells...)
			for _, c := range cells {
				columns = append(columns, strings.ToLower(c))
			}
			continue
		}
		seen.Rows++
		if kind := r.row(columns, cells); kind != Other {
			seen.Read++
			seen.As = kind
		}
	}
	r.Tables = append(r.Tables, seen)
}

// row reads one row and says as what.
func (r *reader) row(columns, cells []string) Kind {
	cell := func(name string) string {
		for i, c := range columns {
			if i < len(cells) && strings.HasPrefix(c, name) {
				return cells[i]
			}
		}
		return ""
	}
	first := ""
	if len(cells) > 0 {
		first = cells[0]
	}
	switch {
	case strings.EqualFold(first, "rfc") && len(cells) > 1 && rfcNumber.MatchString(cells[1]):
		r.RFC = rfcNumber.FindStringSubmatch(cells[1])[1]
		return Head
	case cell("requirement") != "" && cell("verdict") != "":
		row := Row{Section: cited.FindString(cell("requirement")), Requirement: cell("requirement"), Observable: cell("observable"), Verdict: cell("verdict")}
		r.Rows = append(r.Rows, row)
		return Falsifiability
	case strings.HasPrefix(r.part, "conformance") && cell("id") != "":
		r.Cases = append(r.Cases, Case{ID: cell("id"), Says: strings.Join(cells[1:], "; ")})
		return Conformance
	}
	return Other
}

// list reads a conformance list, and lists that complete a sentence which obliges.
func (r *reader) list(n *ast.List) {
	oblige := r.oblige
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		said := r.text(item)
		if strings.HasPrefix(r.part, "conformance") {
			if id := r.firstCode(item, 0); id != "" {
				r.Cases = append(r.Cases, Case{ID: strings.TrimSuffix(id, ".test.ts"), Says: said})
				continue
			}
		}
		if oblige != "" && r.section != "" {
			r.Sentences = append(r.Sentences, Sentence{Section: r.section, Keyword: oblige, Text: said})
			continue
		}
		r.prose(said)
	}
	r.oblige = ""
}

// prose keeps the sentences that oblige, within lettered sections. A paragraph that ends in a colon hands its keyword to
// the list behind it.
func (r *reader) prose(said string) {
	r.oblige = ""
	if r.section == "" {
		return
	}
	for _, sentence := range sentences(said) {
		keyword := keywords.FindString(sentence)
		if keyword == "" {
			continue
		}
		if strings.HasSuffix(strings.TrimSpace(sentence), ":") {
			r.oblige = keyword
			continue
		}
		r.Sentences = append(r.Sentences, Sentence{Section: r.section, Keyword: keyword, Text: sentence})
	}
}

var sentenceEnd = regexp.MustCompile(`([.!?])\s+`)

func sentences(said string) []string {
	return strings.Split(sentenceEnd.ReplaceAllString(said, "$1\x00"), "\x00")
}

// text is what a node says, on one line and without markup.
func (r *reader) text(n ast.Node) string {
	var b strings.Builder
	r.collect(n, &b)
	return strings.Join(strings.Fields(b.String()), " ")
}

func (r *reader) collect(n ast.Node, b *strings.Builder) {
	switch n := n.(type) {
	case *ast.Text:
		b.Write(n.Segment.Value(r.source))
		if n.SoftLineBreak() || n.HardLineBreak() {
			b.WriteByte(' ')
		}
	case *ast.String:
		b.Write(n.Value)
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		r.collect(c, b)
		if c.Type() == ast.TypeBlock {
			b.WriteByte(' ')
		}
	}
}

// firstCode is the code that a list item begins with, possibly in bold, "" where it begins with anything else.
func (r *reader) firstCode(n ast.Node, depth int) string {
	if _, ok := n.(*ast.CodeSpan); ok {
		return r.text(n)
	}
	if c := n.FirstChild(); c != nil && depth < 4 {
		return r.firstCode(c, depth+1)
	}
	return ""
}
