// Shape prints how large the packages of this module are and how much their files hold each other: for each package
// its product files and lines, the largest circle of files that use each other, and the type with the most methods.
// With -from it also lists the files a reader opens to follow a function: those that hold what it calls, two calls
// deep.
//
//	go run ./.ci/shape
//	go run ./.ci/shape -from gmail.Handler.act
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
)

const module = "github.com/postroom-go/postroom"

// A listed package is what go list says of it.
type listed struct {
	ImportPath, Dir, Name, Export string
	GoFiles, CgoFiles             []string
}

// A parsed package is its syntax and what its identifiers mean.
type parsed struct {
	listed

	files []*ast.File
	types *types.Package
	info  *types.Info
}

func main() {
	log.SetFlags(0)
	from := flag.String("from", "",
		"the function to follow, as package.Type.method or package.function, the package as its folder")
	depth := flag.Int("depth", 2, "how many calls deep -from goes")
	flag.Parse()
	packages, fset, err := load()
	if err != nil {
		log.Fatal(err)
	}
	if *from != "" {
		err = follow(os.Stdout, packages, fset, *from, *depth)
	} else {
		err = table(os.Stdout, packages, fset)
	}
	if err != nil {
		log.Fatal(err)
	}
}

func load() ([]*parsed, *token.FileSet, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Dir,Name,Export,GoFiles,CgoFiles", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, nil, fmt.Errorf("go list: %w", err)
	}
	exports := map[string]string{}
	var ours []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, nil, err
		}
		exports[p.ImportPath] = p.Export
		if p.ImportPath == module || strings.HasPrefix(p.ImportPath, module+"/") {
			ours = append(ours, p)
		}
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var packages []*parsed
	for _, p := range ours {
		one, err := check(fset, imports, p)
		if err != nil {
			return nil, nil, err
		}
		packages = append(packages, one)
	}
	return packages, fset, nil
}

func check(fset *token.FileSet, imports types.Importer, p listed) (*parsed, error) {
	one := &parsed{listed: p, info: &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}}}
	for _, name := range slices.Concat(p.GoFiles, p.CgoFiles) {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		one.files = append(one.files, f)
	}
	conf := types.Config{Importer: imports, FakeImportC: true}
	var err error
	one.types, err = conf.Check(p.ImportPath, fset, one.files, one.info)
	return one, err
}

func (p *parsed) folder() string {
	if p.ImportPath == module {
		return "."
	}
	return strings.TrimPrefix(p.ImportPath, module+"/")
}

func table(w io.Writer, packages []*parsed, fset *token.FileSet) error {
	slices.SortFunc(packages, func(a, b *parsed) int { return b.lines(fset) - a.lines(fset) })
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "package\tfiles\tlines\tin one circle\tlargest type\tmethods\tfiles")
	product, files, lines := 0, 0, 0
	for _, p := range packages {
		name, methods, in := p.largestType(fset)
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t%s\t%d\t%d\n", p.folder(), len(p.files), p.lines(fset), p.circle(fset),
			name, methods, in)
		if p.product() {
			product, files, lines = product+1, files+len(p.files), lines+p.lines(fset)
		}
	}
	fmt.Fprintf(tw, "%d product packages\t%d\t%d\n", product, files, lines)
	return tw.Flush()
}

// product reports whether the package is neither a test kit, nor a test server, nor a tool of this repository.
func (p *parsed) product() bool {
	for _, kit := range []string{
		".ci", "gmail/gmailtest", "gmail/internal/worldtest", "internal/bench", "internal/browsertest", "internal/chaos", "internal/dbtest",
		"llm/llmtest",
		"queue/driver/drivertest", "queue/queuetest", "safety/discord/discordtest",
	} {
		if p.folder() == kit || strings.HasPrefix(p.folder(), kit+"/") {
			return false
		}
	}
	return true
}

func (p *parsed) lines(fset *token.FileSet) int {
	n := 0
	for _, f := range p.files {
		n += fset.File(f.FileStart).LineCount()
	}
	return n
}

func (p *parsed) largestType(fset *token.FileSet) (name string, methods, files int) {
	for _, n := range p.types.Scope().Names() {
		tn, ok := p.types.Scope().Lookup(n).(*types.TypeName)
		if !ok {
			continue
		}
		named, ok := tn.Type().(*types.Named)
		if !ok || named.NumMethods() <= methods {
			continue
		}
		in := map[string]bool{}
		for m := range named.Methods() {
			in[fset.Position(m.Pos()).Filename] = true
		}
		name, methods, files = n, named.NumMethods(), len(in)
	}
	return name, methods, files
}

// circle returns how many files the largest set has in which each file uses, directly or through others, each other
// file. A file uses another if it names a function, type, variable, constant, method or field that is declared there.
func (p *parsed) circle(fset *token.FileSet) int {
	uses := map[string]map[string]bool{}
	for id, obj := range p.info.Uses {
		if obj.Pkg() != p.types || !obj.Pos().IsValid() {
			continue
		}
		from, to := fset.Position(id.Pos()).Filename, fset.Position(obj.Pos()).Filename
		if uses[from] == nil {
			uses[from] = map[string]bool{}
		}
		uses[from][to] = true
	}
	reach := map[string]map[string]bool{}
	for f := range uses {
		reach[f] = map[string]bool{}
		walk(uses, f, reach[f])
	}
	largest := 0
	for f := range reach {
		n := 0
		for other := range reach[f] {
			if reach[other][f] {
				n++
			}
		}
		largest = max(largest, n)
	}
	return largest
}

func walk(uses map[string]map[string]bool, f string, seen map[string]bool) {
	for next := range uses[f] {
		if !seen[next] {
			seen[next] = true
			walk(uses, next, seen)
		}
	}
}

// A graph is which functions of the module a function calls. An interface's method stands for the methods of the
// product types that implement it, if those are at most two: of more, a reader opens none.
type graph struct {
	calls map[string]map[string]bool // by types.Func.FullName
	file  map[string]string
}

func follow(w io.Writer, packages []*parsed, fset *token.FileSet, from string, depth int) error {
	g := newGraph(packages, fset)
	start := ""
	for name := range g.file {
		if plain(name) == from {
			start = name
		}
	}
	if start == "" {
		return fmt.Errorf("there is no function %s", from)
	}
	files := map[string]bool{g.file[start]: true}
	for layer := []string{start}; depth > 0; depth-- {
		var next []string
		for _, f := range layer {
			for called := range g.calls[f] {
				files[g.file[called]] = true
				next = append(next, called)
			}
		}
		layer = next
	}
	names := make([]string, 0, len(files))
	for f := range files {
		names = append(names, f)
	}
	slices.Sort(names)
	fmt.Fprintf(w, "%d files: %s\n", len(names), strings.Join(names, " "))
	return nil
}

// plain makes "(*github.com/postroom-go/postroom/gmail.Handler).act" into "gmail.Handler.act".
func plain(name string) string {
	return strings.NewReplacer("(*", "", "(", "", ")", "", module+"/", "").Replace(name)
}

func newGraph(packages []*parsed, fset *token.FileSet) *graph {
	g := &graph{calls: map[string]map[string]bool{}, file: map[string]string{}}
	root, _ := os.Getwd()
	var implementers []*types.Named
	for _, p := range packages {
		for _, n := range p.types.Scope().Names() {
			if tn, ok := p.types.Scope().Lookup(n).(*types.TypeName); ok {
				if named, ok := tn.Type().(*types.Named); ok && p.product() && !types.IsInterface(named) &&
					named.TypeParams().Len() == 0 && named.NumMethods() > 0 {
					implementers = append(implementers, named)
				}
			}
		}
		for _, obj := range p.info.Defs {
			if fn, ok := obj.(*types.Func); ok {
				g.file[fn.FullName()], _ = filepath.Rel(root, fset.Position(fn.Pos()).Filename)
			}
		}
	}
	for _, p := range packages {
		for _, f := range p.files {
			for _, d := range f.Decls {
				if fd, ok := d.(*ast.FuncDecl); ok && fd.Body != nil {
					g.add(p, fd, implementers)
				}
			}
		}
	}
	return g
}

func (g *graph) add(p *parsed, fd *ast.FuncDecl, implementers []*types.Named) {
	caller := p.info.Defs[fd.Name].(*types.Func).FullName()
	called := map[string]bool{}
	ast.Inspect(fd.Body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		fn, ok := p.info.Uses[id].(*types.Func)
		if !ok || fn.Pkg() == nil || fn.Pkg().Path() != module && !strings.HasPrefix(fn.Pkg().Path(), module+"/") {
			return true
		}
		for _, target := range targets(fn.Origin(), implementers) {
			if g.file[target] != "" {
				called[target] = true
			}
		}
		return true
	})
	g.calls[caller] = called
}

// targets returns what a call of fn may run, by name: packages that are read from export data have objects of their
// own.
func targets(fn *types.Func, implementers []*types.Named) []string {
	recv := fn.Signature().Recv()
	if recv == nil || !types.IsInterface(recv.Type()) {
		return []string{fn.FullName()}
	}
	want := recv.Type().Underlying().(*types.Interface)
	var found []string
	for _, named := range implementers {
		if !implements(named, want) {
			continue
		}
		obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(named), true, named.Obj().Pkg(), fn.Name())
		if m, ok := obj.(*types.Func); ok {
			found = append(found, m.Origin().FullName())
		}
	}
	if len(found) > 2 {
		return nil
	}
	return found
}

// implements compares method names only, since the same type read twice is two types.
func implements(named *types.Named, want *types.Interface) bool {
	for m := range want.Methods() {
		obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(named), true, named.Obj().Pkg(), m.Name())
		if _, ok := obj.(*types.Func); !ok {
			return false
		}
	}
	return want.NumMethods() > 0
}
