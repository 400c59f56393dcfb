// Command crosscheck type-checks packages, and all that they import, as they are built without cgo for other systems.
// That finds what a compiler would refuse, in a small part of the time that it takes to compile them.
//
//	go run ./.ci/crosscheck windows/amd64 ./queue/... ./examples/postroomd
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: crosscheck GOOS/GOARCH package...")
		os.Exit(2)
	}
	n, err := check(os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
	fmt.Printf("%s: %d packages\n", os.Args[1], n)
}

// A listed package is what go list says of it.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	DepOnly         bool
	Error           *struct{ Err string }
}

// check type-checks the packages for a system, and returns how many there are with those that they import.
func check(target string, patterns []string) (n int, err error) {
	system, arch, ok := strings.Cut(target, "/")
	if !ok {
		return 0, errors.New("name a system and an architecture, such as windows/amd64")
	}
	args := append([]string{"list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,DepOnly,Error"}, patterns...)
	list := exec.Command("go", args...)
	list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0", "GOFLAGS=")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return 0, err
	}
	c := checker{fset: token.NewFileSet(), sizes: types.SizesFor("gc", arch), done: map[string]*types.Package{}}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; n++ {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return n, nil
		} else if err != nil {
			return n, err
		}
		if err := c.check(&p); err != nil {
			return n, err
		}
	}
}

type checker struct {
	fset  *token.FileSet
	sizes types.Sizes
	done  map[string]*types.Package // go list has those that a package imports before it
}

func (c *checker) check(p *listed) error {
	if p.Error != nil {
		return errors.New(p.Error.Err)
	}
	if p.ImportPath == "unsafe" {
		c.done[p.ImportPath] = types.Unsafe
		return nil
	}
	files := make([]*ast.File, len(p.GoFiles))
	for i, name := range p.GoFiles {
		var err error
		if files[i], err = parser.ParseFile(c.fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution); err != nil {
			return err
		}
	}
	var faults []error
	config := types.Config{
		Importer: importing{c, p.ImportMap}, Sizes: c.sizes, IgnoreFuncBodies: p.DepOnly,
		Error: func(err error) { faults = append(faults, err) },
	}
	// What it returns is the first of the faults.
	c.done[p.ImportPath], _ = config.Check(p.ImportPath, c.fset, files, nil)
	return errors.Join(faults...)
}

// importing imports for one package.
type importing struct {
	*checker
	paths map[string]string // of packages that the standard library has copies of
}

// Import implements [types.Importer].
func (i importing) Import(path string) (*types.Package, error) {
	if mapped := i.paths[path]; mapped != "" {
		path = mapped
	}
	if p := i.done[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s was not listed before", path)
}
