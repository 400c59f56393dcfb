// Concurrent prints the packages that CI tests under the race detector: those with tests whose product code is
// concurrent, and those that consist of tests, which run the others together. All packages are tested without it.
//
//	go test -race $(go run ./.ci/concurrent)
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A listed package is what go list says of it.
type listed struct {
	ImportPath, Dir           string
	GoFiles, CgoFiles         []string
	TestGoFiles, XTestGoFiles []string
}

func main() {
	log.SetFlags(0)
	packages, err := list("./...")
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range packages {
		needed, err := p.needsDetector()
		if err != nil {
			log.Fatal(err)
		}
		if needed {
			fmt.Println(p.ImportPath)
		}
	}
}

// list returns the packages that a pattern matches.
func list(pattern string) (packages []listed, err error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,CgoFiles,TestGoFiles,XTestGoFiles", pattern)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
}

// needsDetector reports whether the tests of the package are to run under the race detector.
func (p *listed) needsDetector() (bool, error) {
	if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
		return false, nil
	}
	declares := false
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return false, err
		}
		if concurrent(file) {
			return true, nil
		}
		declares = declares || len(file.Decls) > 0
	}
	return !declares, nil
}

// concurrent reports whether a file starts goroutines, or guards what several of them use.
func concurrent(file *ast.File) (is bool) {
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		is = is || err == nil && (path == "sync" || path == "sync/atomic" || strings.HasPrefix(path, "golang.org/x/sync/"))
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			is = true
		case *ast.SelectorExpr: // of package time or context
			is = is || n.Sel.Name == "AfterFunc"
		}
		return !is
	})
	return is
}
