package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// tolerance is one line of docs/tolerances.md.
type tolerance struct {
	line                int
	differs, allows, by string
}

// TestThePageOfTolerancesIsCurrent holds the page to the tests: each test that it names is there, each line says what
// allows it, and no lawful host and no case that is called lawful is left out.
func TestThePageOfTolerancesIsCurrent(t *testing.T) {
	page := readTolerances(t)
	cases := judgeCases(t)
	hosts := map[string]bool{}
	for name := range lawfulHosts() {
		hosts[name] = true
	}
	for name := range lawfulDeadHosts() {
		if hosts[name] {
			t.Errorf("the lawful host %q is in both tables, so the page cannot tell which it names", name)
		}
		hosts[name] = true
	}
	for name := range lawfulAgentHosts() {
		if hosts[name] {
			t.Errorf("the lawful host %q is in two tables, so the page cannot tell which it names", name)
		}
		hosts[name] = true
	}
	source := regexp.MustCompile(`RFC [0-9]{4}|Protocol|SSE|HTTP|JSON|optional|proposal|catalogue|above|one lie|the page`)
	span := regexp.MustCompile("`([^`]+)`")
	named := map[string]bool{}
	for _, line := range page {
		if line.differs == "" || !source.MatchString(line.allows) {
			t.Errorf("docs/tolerances.md:%d: %q does not say what allows it: %q", line.line, line.differs, line.allows)
		}
		found := span.FindAllStringSubmatch(line.by, -1)
		if len(found) == 0 {
			t.Errorf("docs/tolerances.md:%d: %q is kept by no test", line.line, line.differs)
		}
		for _, f := range found {
			named[f[1]] = true
			if !hosts[f[1]] && !cases[f[1]] {
				t.Errorf("docs/tolerances.md:%d: there is no test %q", line.line, f[1])
			}
		}
	}
	for name := range hosts {
		if !named[name] {
			t.Errorf("the lawful host %q is not on docs/tolerances.md", name)
		}
	}
	for name := range cases {
		if strings.Contains(name, "/lawful: ") && !named[name] {
			t.Errorf("the lawful case %q is not on docs/tolerances.md", name)
		}
	}
}

// readTolerances reads the lines of the page's tables.
func readTolerances(t *testing.T) []tolerance {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "tolerances.md"))
	if err != nil {
		t.Fatal(err)
	}
	var all []tolerance
	for i, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(strings.Trim(line, "|"), " | ")
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "| ---") || strings.HasPrefix(line, "| what may differ") {
			continue
		}
		if len(cells) != 3 {
			t.Errorf("docs/tolerances.md:%d has %d cells, want 3", i+1, len(cells))
			continue
		}
		all = append(all, tolerance{i + 1, strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1]), strings.TrimSpace(cells[2])})
	}
	if len(all) == 0 {
		t.Fatal("docs/tolerances.md has no tables")
	}
	return all
}

// judgeCases are the names of the judges' self-tests with their cases: every text that begins a composite literal in a
// test function, and so names a case of its table.
func judgeCases(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	root := filepath.Join("..", "..", "witness")
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is && strings.HasPrefix(f.Name.Name, "Test") {
				casesOf(f, found)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func casesOf(f *ast.FuncDecl, found map[string]bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		literal, is := n.(*ast.CompositeLit)
		if !is || len(literal.Elts) == 0 {
			return true
		}
		first := literal.Elts[0]
		if pair, is := first.(*ast.KeyValueExpr); is {
			first = pair.Value
		}
		if text, is := first.(*ast.BasicLit); is && text.Kind == token.STRING {
			if name, err := strconv.Unquote(text.Value); err == nil {
				found[f.Name.Name+"/"+name] = true
			}
		}
		return true
	})
}
