package naming

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/queue/driver"
)

var (
	// changes finds what a migration creates and drops. Whatever is created by none of them is not the queue's.
	changes = regexp.MustCompile(
		`(?m)^(CREATE|DROP) (?:OR REPLACE )?(?:CONSTRAINT )?(TABLE|VIEW|INDEX|TRIGGER|FUNCTION) (\w+)`)
	word = regexp.MustCompile(`\b\w+\b`)
)

// An Object is a table, view, index, trigger or function.
type Object struct {
	Kind, Name string
	Passing    bool // the migration that creates it drops it
}

func (o Object) is(other Object) bool { return o.Kind == other.Kind && o.Name == other.Name }

// Created lists what the migrations of a dialect create, in order.
func Created(files fs.FS, dialect driver.Dialect) (objects []Object, err error) {
	paths, err := fs.Glob(files, path.Join("migrations", string(dialect), "*.sql"))
	if err != nil {
		return nil, err
	}
	for _, name := range paths {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		for _, o := range createdBy(string(text)) {
			if !slices.ContainsFunc(objects, o.is) {
				objects = append(objects, o)
			}
		}
	}
	return objects, nil
}

func createdBy(migration string) (objects []Object) {
	for _, found := range changes.FindAllStringSubmatch(migration, -1) {
		o := Object{Kind: found[2], Name: found[3]}
		at := slices.IndexFunc(objects, o.is)
		switch drops := found[1] == "DROP"; {
		case at >= 0:
			objects[at].Passing = drops
		case !drops:
			objects = append(objects, o)
		}
	}
	return objects
}

// Migrations returns the migrations of a dialect with the names filled in. They are files that never change, and have
// no placeholders: their names are those that they create.
func Migrations(files fs.FS, dialect driver.Dialect, names driver.Names) fs.FS {
	if names == (driver.Names{}) {
		return files
	}
	return &filled{FS: files, dialect: dialect, names: names}
}

// A filled file system fills in the names of its files.
type filled struct {
	fs.FS
	dialect driver.Dialect
	names   driver.Names
	kinds   map[string][]string // of what the files create, by name
}

var _ fs.ReadFileFS = (*filled)(nil)

// ReadFile implements [fs.ReadFileFS].
func (m *filled) ReadFile(name string) ([]byte, error) {
	text, err := fs.ReadFile(m.FS, name)
	if err == nil {
		err = m.read()
	}
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(string(text), "\n")
	for i, line := range lines {
		if !strings.HasPrefix(strings.TrimSpace(line), "--") {
			lines[i] = m.line(line)
		}
	}
	return []byte(strings.Join(lines, "")), nil
}

func (m *filled) read() error {
	if m.kinds != nil {
		return nil
	}
	objects, err := Created(m.FS, m.dialect)
	if err != nil {
		return err
	}
	m.kinds = make(map[string][]string)
	for _, o := range objects {
		m.kinds[o.Name] = append(m.kinds[o.Name], o.Kind)
	}
	return nil
}

func (m *filled) line(line string) string {
	if m.names.Schema != "" {
		// Two queues of one database neither hear nor count each other, also within one transaction.
		line = strings.NewReplacer(
			"'postroom_jobs'", "'"+Literal(m.names, "postroom_jobs")+"'",
			"'postroom.node_ends'", "'"+Literal(m.names, "postroom.node_ends")+"'",
			"SET search_path FROM CURRENT", `SET search_path = "`+m.names.Schema+`"`).Replace(line)
	}
	var out strings.Builder
	end := 0
	for _, at := range word.FindAllStringIndex(line, -1) {
		name := line[at[0]:at[1]]
		if m.takes(name, line[at[1]:]) {
			out.WriteString(line[end:at[0]] + m.names.Table(name))
			end = at[1]
		}
	}
	return out.String() + line[end:]
}

// takes reports whether the name that stands before rest is to be filled in. Only tables and functions are in a schema
// by their names: indexes and triggers go with their tables, and columns and parameters are found by the plain name.
func (m *filled) takes(name, rest string) bool {
	if m.names.Schema == "" {
		return len(m.kinds[name]) > 0
	}
	if strings.HasPrefix(rest, "(") {
		return slices.Contains(m.kinds[name], "FUNCTION")
	}
	return slices.Contains(m.kinds[name], "TABLE") && !strings.HasPrefix(rest, ".")
}

// Drops returns the statements that remove what the migrations of a dialect have made, and nothing that uses it: on
// PostgreSQL they fail if something does. Some of it a later migration has removed.
func Drops(files fs.FS, dialect driver.Dialect, names driver.Names) ([]string, error) {
	objects, err := Created(files, dialect)
	if err != nil {
		return nil, err
	}
	of := func(kind string) (list []string) {
		for _, o := range slices.Backward(objects) {
			if o.Kind == kind && !o.Passing {
				list = append(list, names.Table(o.Name))
			}
		}
		return list
	}
	if dialect == driver.Postgres {
		return []string{
			"DROP TABLE IF EXISTS " + strings.Join(of("TABLE"), ", "),
			"DROP FUNCTION IF EXISTS " + strings.Join(of("FUNCTION"), ", "),
		}, nil
	}
	var drops []string
	for _, kind := range []string{"VIEW", "TABLE"} { // indexes and triggers go with their tables
		for _, name := range of(kind) {
			drops = append(drops, "DROP "+kind+" IF EXISTS "+name)
		}
	}
	return drops, nil
}
