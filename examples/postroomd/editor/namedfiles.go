package editor

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// ParseChange reads a text that is to replace the rules of the file at path, which may be empty, for somebody who has
// not all mailboxes. It may name the files that the text before names: others beside the rules may hold secrets, or
// what is of another mailbox, and the values of rules are shown.
func (e *Editor) ParseChange(path, before, text string) (*rulesfile.File, error) {
	if path == "" {
		return e.Parse(path, text)
	}
	named := namedFiles{FS: os.DirFS(filepath.Dir(path)), names: map[string]bool{}, adds: true}
	// What is wrong with the text before is no fault of this one.
	_, _ = e.parse(path, before, rulesfile.WithFiles(named))
	named.adds = false
	return e.parse(path, text, rulesfile.WithFiles(named))
}

// namedFiles are the files of a directory that a text has named. While adds is set, each that is opened becomes one.
type namedFiles struct {
	fs.FS
	names map[string]bool
	adds  bool
}

// Open opens a file.
func (f namedFiles) Open(name string) (fs.File, error) {
	if f.adds {
		f.names[name] = true
	}
	if !f.names[name] {
		return nil, usage.Errorf("the rules have not named the file %q before: write the values out as values, "+
			"or ask somebody who has all mailboxes to name it", name)
	}
	return f.FS.Open(name)
}
