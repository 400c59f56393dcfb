package rulesfile

import (
	"fmt"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/lists"
	"strings"
	"unicode/utf8"
)

// An Untranslated is something that filters of another kind express and rules cannot, or vice versa.
type Untranslated struct {
	// Of is the filter or the rule: its name, or its number from 1.
	Of string
	// What is untranslated, and why.
	What string
	// Left says what was done: the whole rule was omitted, a part of its actions was, or the translation is approximate.
	Left Leftover
}

// A Leftover says what was done about an untranslated part.
type Leftover string

// The leftovers.
const (
	Skipped     Leftover = "left out" // no rule or filter: without the lost part it would match other mail
	Partial     Leftover = "partly"   // it is there without one of its actions
	Approximate Leftover = "nearly"   // it is there and matches nearly the same mail
)

// String formats it for people.
func (u Untranslated) String() string { return fmt.Sprintf("%s: %s: %s", u.Of, u.Left, u.What) }

// A Translation is a rules file made from filters of another kind.
type Translation struct {
	File *File
	// Untranslated lists what rules cannot express.
	Untranslated []Untranslated

	notes map[int][]string
	names map[string]int // of the rules, each with the number that the next of this name is tried with
}

// Marshal returns the text of the rules file, with the differences as a comment above each rule.
func (t *Translation) Marshal() []byte { return marshal(t.File, t.notes) }

// NewTranslation returns a translation that is still empty.
func NewTranslation() *Translation {
	return &Translation{File: &File{Rules: []rules.Rule{}}, notes: map[int][]string{}, names: map[string]int{}}
}

// Add adds a rule, with its untranslated parts.
func (t *Translation) Add(r rules.Rule, lost []Untranslated) {
	r.Name = t.unusedName(r.Name)
	r.Position = len(t.File.Rules) + 1
	r.Normalize()
	for _, u := range lost {
		t.notes[len(t.File.Rules)] = append(t.notes[len(t.File.Rules)], fmt.Sprintf("%s: %s", u.Left, u.What))
	}
	t.Untranslated = append(t.Untranslated, lost...)
	t.File.Rules = append(t.File.Rules, r)
}

// unusedName makes a name that no rule has.
func (t *Translation) unusedName(name string) string {
	name = strings.Join(strings.Fields(strings.Map(visible, name)), " ")
	const longest = 80
	if utf8.RuneCountInString(name) > longest {
		name = string([]rune(name)[:longest-1]) + "…"
	}
	if name == "" {
		name = "rule"
	}
	unused := name
	for next, taken := t.names[name]; taken; next++ {
		unused = fmt.Sprintf("%s (%d)", name, next)
		t.names[name] = next + 1
		_, taken = t.names[unused]
	}
	t.names[unused] = 2
	return unused
}

// NeedLabel lists a label that the rules name.
func (t *Translation) NeedLabel(name string) {
	if !rules.IsSystemLabel(name) && !lists.ContainsFold(t.File.Labels, name) {
		t.File.Labels = append(t.File.Labels, name)
	}
}
