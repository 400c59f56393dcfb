package agent

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/postroom-go/postroom/llm"
)

// maxProfile bounds the file of a profile, in bytes: the parser takes a second for one that is all brackets.
const maxProfile = 16 << 10

// profileFile is the form of a file. Nil limits have their defaults.
type profileFile struct {
	Name         string    `yaml:"name"`
	Model        string    `yaml:"model"`
	Instructions string    `yaml:"instructions"`
	Tools        []string  `yaml:"tools"`
	Outcomes     []Outcome `yaml:"outcomes"`
	Limits       struct {
		ModelCalls  *int     `yaml:"model_calls"`
		ToolCalls   *int     `yaml:"tool_calls"`
		EqualCalls  *int     `yaml:"equal_calls"`
		CallTime    *string  `yaml:"call_time"`
		RunTime     *string  `yaml:"run_time"`
		Tokens      *int     `yaml:"tokens"`
		Cost        *float64 `yaml:"cost"`
		RunsADay    *int     `yaml:"runs_a_day"`
		RunsAThread *int     `yaml:"runs_a_thread"`
		Failures    *int     `yaml:"failures"`
	} `yaml:"limits"`
}

// A FileError lists the faults of a profile's file, each with its line and what to do.
type FileError struct {
	Name   string
	Faults []string
}

// Error has a line for each fault.
func (e *FileError) Error() string { return "llm/agent: " + strings.Join(e.Faults, "\n") }

// ReadProfile reads a profile in YAML; name is that of the file, for errors. Unknown keys, values of another type and
// values out of bounds are a [*FileError].
//
//	name: support
//	model: acme::small
//	instructions: |
//	  Answer questions about orders from the files. Hand complaints to me.
//	tools: [read_thread, read_files]
//	outcomes: [draft, escalate]
//	limits: {model_calls: 8, call_time: 60s, tokens: 30000, cost: 0.05, runs_a_day: 30}
//
// With an offer, a profile that names something else is a fault as well.
func ReadProfile(name string, text []byte, offered ...Offer) (Profile, error) {
	var file profileFile
	if len(text) > maxProfile {
		return Profile{}, &FileError{name, []string{fmt.Sprintf("%s: the file has %d bytes; write at most %d", name,
			len(text), maxProfile)}}
	}
	root, err := decodeProfile(text, &file)
	if err != nil {
		return Profile{}, &FileError{name, []string{syntaxFault(name, err)}}
	}
	sum := sha256.Sum256(text)
	p := Profile{Name: file.Name, Model: file.Model, Instructions: strings.TrimSpace(file.Instructions),
		Tools: file.Tools, Outcomes: file.Outcomes, Version: hex.EncodeToString(sum[:6])}
	limits, faults := file.limits()
	p.Limits = limits
	faults = append(faults, p.check()...)
	for _, o := range offered {
		faults = append(faults, o.check(&p)...)
	}
	if len(faults) > 0 {
		return Profile{}, located(name, root, faults)
	}
	return p.checked()
}

// An Offer lists the models, the tools and the outcomes that a program has for profiles.
type Offer struct {
	Models, Tools []string
	Outcomes      []Outcome // nil: all
}

func (o Offer) check(p *Profile) (faults []fault) {
	if strings.TrimSpace(p.Model) != "" && !slices.Contains(o.Models, p.Model) {
		hint := "configure one first"
		if len(o.Models) > 0 {
			hint = "the models are " + join(o.Models)
		}
		faults = append(faults, fault{"model", fmt.Sprintf("there is no model %q", p.Model), hint})
	}
	for i, name := range p.Tools {
		if !slices.Contains(o.Tools, name) {
			faults = append(faults, fault{fmt.Sprintf("tools[%d]", i), fmt.Sprintf("there is no tool %q", name),
				"the tools are " + join(o.Tools)})
		}
	}
	for i, name := range p.Outcomes {
		if _, known := endings[name]; known && o.Outcomes != nil && !slices.Contains(o.Outcomes, name) {
			faults = append(faults, fault{fmt.Sprintf("outcomes[%d]", i),
				fmt.Sprintf("the outcome %s is not carried out here", name), "the outcomes are " + join(o.Outcomes)})
		}
	}
	return faults
}

// limits reads the limits: a number that is there and 0 is out of bounds, and not the default.
func (f *profileFile) limits() (l Limits, faults []fault) {
	l = Limits{}.withDefaults()
	w := &f.Limits
	for to, from := range map[*int]*int{&l.ModelCalls: w.ModelCalls, &l.ToolCalls: w.ToolCalls,
		&l.EqualCalls: w.EqualCalls, &l.Tokens: w.Tokens, &l.RunsADay: w.RunsADay, &l.RunsAThread: w.RunsAThread,
		&l.Failures: w.Failures} {
		if from != nil {
			*to = *from
		}
	}
	if w.Cost != nil {
		l.Cost = llm.Dollars(min(max(*w.Cost, -1), 1e6))
	}
	for _, t := range []struct {
		key  string
		from *string
		to   *time.Duration
	}{{"call_time", w.CallTime, &l.CallTime}, {"run_time", w.RunTime, &l.RunTime}} {
		if t.from == nil {
			continue
		}
		d, err := time.ParseDuration(*t.from)
		if err != nil {
			faults = append(faults, fault{"limits." + t.key, fmt.Sprintf("%s is %q", t.key, *t.from),
				"write a time such as 60s or 5m"})
			continue
		}
		*t.to = d
	}
	return l, faults
}

// QUIRK: goccy/go-yaml panics on some malformed input; to the author of the file that is a fault like others.
func decodeProfile(text []byte, file *profileFile) (root ast.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the parser gave up: %v", p)
		}
	}()
	parsed, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, err
	}
	if len(parsed.Docs) != 1 || parsed.Docs[0].Body == nil {
		return nil, errors.New("the file must hold one document")
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict())
	return parsed.Docs[0].Body, decoder.Decode(file)
}

// profileKeys lists the keys of a file.
const profileKeys = "the keys are name, model, instructions, tools, outcomes and limits, and those of limits " +
	"model_calls, tool_calls, equal_calls, call_time, run_time, tokens, cost, runs_a_day, runs_a_thread and failures"

func syntaxFault(name string, err error) string {
	message, hint, line := err.Error(), "correct the line", 0
	if at := yaml.Error(nil); errors.As(err, &at) {
		message = at.GetMessage()
		if token := at.GetToken(); token != nil && token.Position != nil {
			line = token.Position.Line
		}
	}
	if line == 0 || strings.Contains(message, "unknown field") {
		hint = profileKeys
	}
	return at(name, line, message, hint)
}

func at(name string, line int, message, hint string) string {
	if line > 0 {
		name = fmt.Sprintf("%s:%d", name, line)
	}
	return name + ": " + message + "; " + hint
}

// located finds the lines of the faults.
func located(name string, root ast.Node, faults []fault) error {
	type placed struct {
		line int
		text string
	}
	list := make([]placed, len(faults))
	for i, f := range faults {
		line := lineOf(root, f.key)
		list[i] = placed{line, at(name, line, f.message, f.hint)}
	}
	slices.SortStableFunc(list, func(a, b placed) int { return cmp.Compare(a.line, b.line) })
	e := &FileError{Name: name}
	for _, p := range list {
		e.Faults = append(e.Faults, p.text)
	}
	return e
}

// lineOf returns the line of a key; 0 if the file does not have it.
func lineOf(root ast.Node, key string) int {
	path, err := yaml.PathString("$." + key)
	if err != nil {
		return 0
	}
	node, err := path.FilterNode(root)
	if err != nil || node == nil || node.GetToken() == nil {
		return 0
	}
	return node.GetToken().Position.Line
}

// ReadProfiles reads the profiles of all files of a folder whose names end in .yaml. Two with one name are an error.
func ReadProfiles(folder fs.FS, offered ...Offer) ([]Profile, error) {
	names, err := fs.Glob(folder, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("llm/agent: find the files of profiles: %w", err)
	}
	var list []Profile
	var faults []error
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			faults = append(faults, fmt.Errorf("llm/agent: read a profile: %w", err))
			continue
		}
		p, err := ReadProfile(name, text, offered...)
		if err == nil && slices.ContainsFunc(list, func(o Profile) bool { return o.Name == p.Name }) {
			err = &FileError{name, []string{fmt.Sprintf("%s: the name %q is that of another file; choose another", name,
				p.Name)}}
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		list = append(list, p)
	}
	return list, errors.Join(faults...)
}
