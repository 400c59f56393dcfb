package environment

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/postroom-go/postroom/rules/rulesfile"
)

// readRules keeps what was read of the rules files. To parse 10,000 rules takes a second and 100 MB: it is done once,
// and not for each mailbox that has them.
type readRules struct {
	mu    sync.Mutex // held while a file is parsed, so that not all mailboxes do that at once
	files map[string]*readFile
}

func (r *readRules) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files = nil
}

// readAgain is how long a file is taken to be read that has not changed: what is warned of depends on the time.
const readAgain = time.Hour

// A readFile is a rules file as it was read, with the files that it names.
type readFile struct {
	file  *rulesfile.File
	named *namedFiles
	at    time.Time
}

// stands reports whether reading the file again would give the same.
func (f *readFile) stands(path string) bool {
	if f == nil || time.Since(f.at) > readAgain {
		return false
	}
	text, err := readText(os.DirFS(filepath.Dir(path)), filepath.Base(path))
	return err == nil && text == f.file.Source && f.named.stand()
}

// own is the file for one caller, who may give each rule another condition.
func (f *readFile) own() *rulesfile.File {
	own := *f.file
	own.Rules = slices.Clone(f.file.Rules)
	return &own
}

// readText reads as much of a file as can be a rules file, or one that it names, and one byte more.
func readText(files fs.FS, name string) (string, error) {
	f, err := files.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, rulesfile.MaxFileSize+1))
	return string(text), err
}

// namedFiles are the files in the directory of a rules file; it keeps the texts of those that are opened.
type namedFiles struct {
	fs.FS

	texts map[string]string
}

func (n *namedFiles) Open(name string) (fs.File, error) {
	text, err := readText(n.FS, name)
	if err == nil {
		n.texts[name] = text
	}
	return n.FS.Open(name)
}

func (n *namedFiles) stand() bool {
	for name, text := range n.texts {
		if now, err := readText(n.FS, name); err != nil || now != text {
			return false
		}
	}
	return true
}

// ReadRules reads a configured rules file; nil if the path is empty.
func (s *Environment) ReadRules(path string) (*rulesfile.File, error) {
	if path == "" {
		return nil, nil
	}
	s.read.mu.Lock()
	defer s.read.mu.Unlock()
	if known := s.read.files[path]; known.stands(path) {
		return known.own(), nil
	}
	delete(s.read.files, path)
	named := &namedFiles{os.DirFS(filepath.Dir(path)), map[string]string{}}
	file, err := ReadRulesFile(path, rulesfile.WithKinds(s.ActionKinds()), s.RefuseActions(),
		s.UnknownMeanings(), rulesfile.WithFiles(named))
	if err != nil {
		return nil, err
	}
	if s.read.files == nil {
		s.read.files = map[string]*readFile{}
	}
	read := &readFile{file, named, time.Now()}
	s.read.files[path] = read
	return read.own(), nil
}
