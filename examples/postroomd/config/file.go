package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	tomlparser "github.com/knadh/koanf/parsers/toml/v2"
	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/postroom-go/postroom/internal/suggest"
)

// A file is the text of a configuration with the positions of its keys, which the parser of values does not record.
type file struct {
	name     string
	lines    []string
	values   map[string]any
	places   map[string]place // by key, such as app.port
	problems []Problem
}

type place struct{ line, column int }

func parseFile(name string, text []byte) *file {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	f := &file{name: name, lines: strings.Split(string(text), "\n"), places: map[string]place{}}
	values, err := tomlparser.Parser().Unmarshal(text)
	if err != nil {
		f.syntax(err)
		return f
	}
	f.values = values
	f.walk(text)
	return f
}

// syntax reports the first syntax error; nothing after it can be read.
func (f *file) syntax(err error) {
	message, at := err.Error(), place{1, 1}
	if broken, ok := errors.AsType[*toml.DecodeError](err); ok {
		at.line, at.column = broken.Position()
		message = strings.TrimPrefix(broken.Error(), "toml: ")
	}
	f.problem(at, "this is not TOML: "+message,
		`write lines such as port = 17800 below a section such as [app]; texts stand in quotes`)
}

func (f *file) problem(at place, message, hint string) {
	p := Problem{File: f.name, Line: at.line, Column: at.column, Message: message, Hint: hint}
	if at.line >= 1 && at.line <= len(f.lines) {
		source := strings.TrimRight(f.lines[at.line-1], "\r")
		p.Column = utf8.RuneCountInString(source[:min(max(at.column-1, 0), len(source))]) + 1
		p.Source = withoutSecret(source)
	}
	f.problems = append(f.problems, p)
}

// walk records the position of each key, and reports unknown ones.
func (f *file) walk(text []byte) {
	var p unstable.Parser
	p.Reset(text)
	var section []string
	known := true // keys of an unknown section are not reported again
	for p.NextExpression() {
		e := p.Expression()
		names, at := f.key(&p, e)
		switch e.Kind {
		case unstable.Table:
			section, known = names, f.section(names, at)
		case unstable.ArrayTable:
			known = false
			f.problem(at, fmt.Sprintf("[[%s]] is a list of sections", strings.Join(names, ".")), "write ["+names[0]+"]")
		case unstable.KeyValue:
			if !known {
				continue
			}
			f.pair(&p, append(slices.Clip(section), names...), e, at)
		}
	}
}

func (f *file) key(p *unstable.Parser, n *unstable.Node) (names []string, at place) {
	for it := n.Key(); it.Next(); {
		k := it.Node()
		if len(names) == 0 {
			start := p.Shape(k.Raw).Start
			at = place{start.Line, start.Column}
		}
		names = append(names, string(k.Data))
	}
	return names, at
}

// section reports whether the section exists.
func (f *file) section(names []string, at place) bool {
	whole := strings.Join(names, ".")
	if s := find(whole); s != nil && len(names) == 2 {
		f.problem(at, fmt.Sprintf("[%s] is a section, but %s is a setting", whole, names[1]),
			fmt.Sprintf("write [%s] and below it %s", names[0], s.line()))
		return false
	}
	if len(names) > 1 || len(keys(names[0])) == 0 {
		f.problem(at, fmt.Sprintf("unknown section [%s]", whole), suggest.Instead(names[0], keys(""), "the sections are"))
		return false
	}
	return true
}

// pair records a key and its value, or those within an inline table.
func (f *file) pair(p *unstable.Parser, names []string, e *unstable.Node, at place) {
	if value := e.Value(); value.Kind == unstable.InlineTable {
		if len(names) == 1 && !f.section(names, at) {
			return
		}
		for it := value.Children(); it.Next(); {
			inner, innerAt := f.key(p, it.Node())
			f.pair(p, append(slices.Clip(names), inner...), it.Node(), innerAt)
		}
		return
	}
	key := strings.Join(names, ".")
	if find(key) != nil && len(names) == 2 {
		f.places[key] = at
		return
	}
	f.unknown(names, at)
}

func (f *file) unknown(names []string, at place) {
	last := names[len(names)-1]
	switch {
	case len(names) == 1 && len(keys(last)) > 0:
		f.problem(at, last+" is a section", "write ["+last+"] on a line of its own, and its keys below")
	case len(names) == 1:
		f.problem(at, last+" stands in no section", homeOf(last))
	case len(keys(names[0])) == 0:
		f.section(names[:1], at)
	default:
		word := strings.Join(names[1:], ".")
		hint := suggest.Instead(word, keys(names[0]), "its keys are")
		if home := sectionOf(word); home != "" {
			hint = homeOf(word)
		}
		f.problem(at, fmt.Sprintf("unknown key %q in [%s]", word, names[0]), hint)
	}
}

// sectionOf returns the section that has the key; empty if none or several have.
func sectionOf(key string) string {
	home := ""
	for _, s := range settings {
		if of, name, _ := strings.Cut(s.key, "."); name == key {
			if home != "" {
				return ""
			}
			home = of
		}
	}
	return home
}

func homeOf(key string) string {
	if home := sectionOf(key); home != "" {
		return "it belongs below [" + home + "]"
	}
	return "write it below its section, which is one of " + strings.Join(keys(""), ", ")
}

// line returns a valid line for the setting.
func (s *setting) line() string {
	_, name, _ := strings.Cut(s.key, ".")
	return name + " = " + s.example
}
