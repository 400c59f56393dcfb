package rulesfile

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/lists"
)

// A File is a parsed and valid rules file.
type File struct {
	Name string
	// Source is the text of the file.
	Source string
	// Labels are the names listed under labels; see [File.NeededLabels].
	Labels []string
	// Snippets are the texts that actions name in place of their body, by their names. The rules have the texts.
	Snippets map[string]string
	// Rules are in the order of the file, which decides between rules of one priority; never nil.
	Rules []rules.Rule
	// Tests are the tests of the rules; [File.Test] runs them.
	Tests []Test
	// Warnings are probably mistakes, but not errors.
	Warnings []Problem
	// Notes say what people may not expect of what is right.
	Notes []Problem

	unread []Problem // the warnings of revisions
}

// MaxFileSize is far beyond what a person writes.
const MaxFileSize = 1 << 20

// A ParseOption changes what [Parse] accepts. The zero ParseOption changes nothing.
type ParseOption struct{ apply func(*parseConfig) }

type parseConfig struct {
	kinds *postroom.Kinds
	files fs.FS
	now   time.Time // zero: times that cannot be waited for are warnings

	refused map[postroom.ActionType]string // why
	unknown map[rules.Kind]string          // why
}

// WithKinds names the actions that rules may have. Without it they are those that package gmail carries out.
func WithKinds(kinds *postroom.Kinds) ParseOption {
	return ParseOption{func(c *parseConfig) { c.kinds = kinds }}
}

// WithRefused warns of rules with actions that are refused where the rules are used, though they are carried out
// elsewhere, with the reason and what to do: what such a rule decides fails.
func WithRefused(why map[postroom.ActionType]string) ParseOption {
	why = maps.Clone(why)
	return ParseOption{func(c *parseConfig) { c.refused = why }}
}

// WithUnknown warns of rules with conditions that ask for what is never found out where the rules are used, with the
// reason and what to do: such a rule matches nothing.
func WithUnknown(why map[rules.Kind]string) ParseOption {
	why = maps.Clone(why)
	return ParseOption{func(c *parseConfig) { c.unknown = why }}
}

// WithFiles names the directory of the files that values_from names. Without it there are none; [ParseFile] takes the
// directory of the rules file.
func WithFiles(files fs.FS) ParseOption {
	return ParseOption{func(c *parseConfig) { c.files = files }}
}

// WithNow makes a fault of what is wrong at this time only, such as a snooze until a time that has passed: it is for
// rules that are being written. Without it that is a warning, at the present time, since a file that was right stays
// so.
func WithNow(now time.Time) ParseOption {
	return ParseOption{func(c *parseConfig) { c.now = now }}
}

// ParseFile reads the rules file at path; see [Parse].
func ParseFile(path string, options ...ParseOption) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	defer f.Close()
	return Parse(path, f, append([]ParseOption{WithFiles(os.DirFS(filepath.Dir(path)))}, options...)...)
}

// Parse parses a rules file; the name is for error messages. A faulty file is a [*FileError] with every problem, each
// with its line and column; other errors are those of r.
func Parse(name string, r io.Reader, options ...ParseOption) (*File, error) {
	if err := fields.Required("rules: Parse: r", r, "the text of the file"); err != nil {
		return nil, err
	}
	p, err := newFileParser(name, r, options)
	if err != nil {
		return nil, err
	}
	if root := p.root(); root != nil {
		p.document(root)
	}
	p.file.Warnings, p.file.Notes = inOrder(p.warnings), inOrder(p.notes)
	if err := p.err(); err != nil {
		return nil, err
	}
	return p.file, nil
}

func newFileParser(name string, r io.Reader, options []ParseOption) (*fileParser, error) {
	var config parseConfig
	for _, option := range options {
		if option.apply != nil {
			option.apply(&config)
		}
	}
	data, err := io.ReadAll(io.LimitReader(r, MaxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("read rules: %s: %w", name, err)
	}
	s, err := sourceOf(name, data)
	if err != nil {
		return nil, err
	}
	return &fileParser{source: s, config: config, file: &File{Name: name, Source: string(data), Rules: []rules.Rule{}},
		names: map[string]position{}}, nil
}

func sourceOf(name string, data []byte) (*source, error) {
	if len(data) > MaxFileSize {
		tooLarge := Problem{File: name, Message: fmt.Sprintf("the file is larger than %d bytes", MaxFileSize),
			Hint: "split it"}
		return nil, &FileError{Name: name, Problems: []Problem{tooLarge}}
	}
	text := strings.TrimPrefix(string(data), "\uFEFF")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return &source{name: name, lines: strings.Split(text, "\n")}, nil
}

// ResolveLabels replaces the label names in label_present conditions by the ids that messages carry. The host calls it
// when the file's labels exist. A name for which id returns false is left unchanged.
func (f *File) ResolveLabels(id func(name string) (id string, ok bool)) {
	for i := range f.Rules {
		f.Rules[i].Condition = f.Rules[i].Condition.ResolveLabels(id)
	}
}

// For returns the file as it is for one mailbox: without the rules whose scope is another account, and with the
// account's id where a scope_ref has its address.
func (f *File) For(accountID, address string) *File {
	own := *f
	own.Rules = make([]rules.Rule, 0, len(f.Rules))
	for _, r := range f.Rules {
		if r.Scope == rules.ScopeAccount {
			if r.ScopeRef != accountID && !strings.EqualFold(strings.TrimSpace(r.ScopeRef), address) {
				continue
			}
			r.ScopeRef = accountID
		}
		own.Rules = append(own.Rules, r)
	}
	return &own
}

// NeededLabels returns the names of the labels that the host creates in mailboxes without them: those of
// [File.Labels], and those that actions of the rules name.
func (f *File) NeededLabels(kinds *postroom.Kinds) []string {
	names := slices.Clone(f.Labels)
	for i := range f.Rules {
		for _, name := range f.Rules[i].NeededLabels(kinds) {
			if !lists.ContainsFold(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// ImportSource returns the rules with the text that they were read from, for the ImportFile of a rule store.
func (f *File) ImportSource() rules.Source {
	return rules.Source{Name: f.Name, Text: f.Source, Rules: f.Rules}
}
