package wopwitness_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/wopwitness/wopwitness/"

// rule says which folders of the project the code in a folder may import besides its own. The first rule whose folder
// holds the file decides.
type rule struct {
	folder string
	may    []string
}

// rules keep the suite and the mock host apart, opinions away from I/O, and the report from everything that drives.
func rules() []rule {
	return []rule{
		{"scenarios/registry", nil},
		{"scenarios", []string{"scenarios/registry", "witness", "seams", "fixtures"}},
		{"witness/observe", nil},
		{"witness", []string{"scenarios/registry", "fixtures/schema", "fixtures/vectors"}},
		{"seams", []string{"witness/observe"}},
		{"mockhost", []string{"fixtures/workflows"}},
		{"fixtures", nil},
		{"reports", []string{"scenarios/registry", "witness"}},
		{"cmd", []string{""}},
	}
}

// soleImporters are packages that only one folder may import.
func soleImporters() map[string]string {
	return map[string]string{
		"github.com/santhosh-tekuri/jsonschema/v5": "fixtures/schema",
		"github.com/onsi/ginkgo/v2":                "scenarios",
		"github.com/onsi/gomega":                   "scenarios",
		"github.com/spf13/cobra":                   "cmd/wopwitness",
		module + "mockhost/defects":                "mockhost",
	}
}

type source struct {
	path    string // from the project's root, with slashes
	file    *ast.File
	imports []string
}

func sources(t *testing.T, tests bool) []source {
	t.Helper()
	var found []source
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata"):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") != tests:
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		s := source{path: filepath.ToSlash(name), file: file}
		for _, i := range file.Imports {
			s.imports = append(s.imports, strings.Trim(i.Path.Value, `"`))
		}
		found = append(found, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func within(name, folder string) bool {
	return folder == "" || name == folder || strings.HasPrefix(name, folder+"/")
}

func TestEachFolderImportsOnlyWhatItMay(t *testing.T) {
	for _, s := range sources(t, false) {
		i := slices.IndexFunc(rules(), func(r rule) bool { return within(s.path, r.folder) })
		if i < 0 {
			t.Errorf("%s is in no folder that the layout knows", s.path)
			continue
		}
		r := rules()[i]
		for _, imported := range s.imports {
			own, ok := strings.CutPrefix(imported, module)
			if !ok || within(own, r.folder) {
				continue
			}
			if !slices.ContainsFunc(r.may, func(folder string) bool { return within(own, folder) }) {
				t.Errorf("%s imports %s; %s may import only itself and %v", s.path, own, r.folder, r.may)
			}
		}
	}
}

func TestSomePackagesHaveOneImporter(t *testing.T) {
	for _, s := range sources(t, false) {
		for _, imported := range s.imports {
			for name, folder := range soleImporters() {
				isRoot := strings.HasPrefix(name, module)
				if !within(imported, name) || within(s.path, strings.TrimPrefix(name, module)) {
					continue
				}
				if inFolder := within(s.path, folder); !inFolder || isRoot && path.Dir(s.path) != folder {
					t.Errorf("%s imports %s, which is for %s alone", s.path, imported, folder)
				}
			}
		}
	}
}

func TestTheHostAndTheSuiteShareNoCodeInTestsEither(t *testing.T) {
	for _, s := range sources(t, true) {
		for _, imported := range s.imports {
			own := strings.TrimPrefix(imported, module)
			hostSide, suiteSide := within(own, "mockhost"), within(own, "witness") || within(own, "seams") || within(own, "scenarios")
			if within(s.path, "mockhost") && suiteSide || hostSide && (within(s.path, "witness") || within(s.path, "seams")) {
				t.Errorf("%s imports %s", s.path, own)
			}
		}
	}
}

// TestOnlyLegSpeaksToGinkgo keeps dispositions in one place: a scenario that skipped or asserted by itself would leave a
// row that the ledger can't explain.
func TestOnlyLegSpeaksToGinkgo(t *testing.T) {
	reserved := []string{"ginkgo.Skip", "ginkgo.AddReportEntry", "ginkgo.Fail", "gomega.Expect", "gomega.Eventually", "gomega.Consistently"}
	for _, s := range sources(t, false) {
		if !within(s.path, "scenarios") || s.path == "scenarios/leg.go" {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			selector, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if from, ok := selector.X.(*ast.Ident); ok && slices.Contains(reserved, from.Name+"."+selector.Sel.Name) {
				t.Errorf("%s calls %s.%s; only scenarios/leg.go may", s.path, from.Name, selector.Sel.Name)
			}
			return true
		})
	}
}

func TestNoFolderIsNamedForNothing(t *testing.T) {
	for _, s := range sources(t, false) {
		for element := range strings.SplitSeq(strings.TrimSuffix(s.path, ".go"), "/") {
			if slices.Contains([]string{"util", "utils", "helper", "helpers", "manager", "common", "misc"}, element) {
				t.Errorf("%s: %q says nothing of what is in it", s.path, element)
			}
		}
	}
}
