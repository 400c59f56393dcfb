package rulesfile

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/rules"
)

// A Revision is a change of the rules of a file, by their names.
type Revision struct {
	// Remove names rules that go.
	Remove []string
	// Rules replace those of the same names, in their places; the others are added at the end, in order.
	Rules []rules.Rule
	// Labels are added to those of the file, unless it has them.
	Labels []string
	// Tests replace those of the same names, in their places; the others are added at the end, in order. A message is
	// described by its addresses, subject, times, labels, attachments, size and texts, by the header fields that are
	// neither of these nor of its MIME structure, and by what else the test says of its sender. What a file cannot say of
	// it is left out: whether the test passes is to be tried with [File.Test].
	Tests []Test
}

// Revise returns the file with the change, in the canonical form of [Format]. Unchanged parts stay, comments
// included. The comments of a removed rule are removed with it, and those within a replaced rule move above it. A
// replaced rule whose condition stays goes on to take its values from other files; one whose condition changes has them
// written out, which is a warning of the result and of what is revised of it. The file is parsed again with the
// options, which must be those that f was parsed with. A name in Remove that no rule of the file has, and an invalid
// result, are errors; a fault of the file is a [*FileError].
func (f *File) Revise(change Revision, options ...ParseOption) (*File, error) {
	if err := fields.Required("rules: Revise: f", f, "a file that was read by Parse"); err != nil {
		return nil, err
	}
	text := f.Source
	if text == "" {
		text = string(Marshal(f))
	}
	s, err := sourceOf(f.Name, []byte(text))
	if err != nil {
		return nil, err
	}
	tree := s.tree(s.root())
	if err := s.err(); err != nil {
		return nil, err
	}
	tree.attach(s.comments())
	preamble := tree.takePreamble()
	if len(preamble) == 0 && len(change.Labels) > 0 && !tree.has("labels") {
		preamble = tree.takeHead() // it would otherwise follow the labels
	}
	unread, err := tree.revise(change, f.Rules)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	tree.arrange(&fileShape)
	revised, err := Parse(f.Name, strings.NewReader(string(tree.format(preamble))), options...)
	if err != nil {
		return nil, err
	}
	if len(Differences(change.of(f.Rules), revised.Rules)) > 0 {
		return nil, fmt.Errorf("%s: %w", f.Name, errRevisedDiffers)
	}
	for _, name := range unread {
		revised.unread = append(revised.unread, Problem{File: f.Name, Message: fmt.Sprintf(
			"the rule %q takes values from a file: they are written out now, and the file is not read any more", name)})
	}
	revised.unread = append(slices.Clone(f.unread), revised.unread...)
	revised.Warnings = append(revised.Warnings, revised.unread...)
	return revised, nil
}

var errRevisedDiffers = errors.New("the changed text would say something else; the file stays as it is")

// of is the rules after the change.
func (c *Revision) of(before []rules.Rule) []rules.Rule {
	after := slices.DeleteFunc(slices.Clone(before), func(r rules.Rule) bool { return slices.Contains(c.Remove, r.Name) })
	for _, r := range c.Rules {
		r.Normalize()
		if i := slices.IndexFunc(after, func(old rules.Rule) bool { return old.Name == r.Name }); i >= 0 {
			after[i] = r
		} else {
			after = append(after, r)
		}
	}
	return after
}

// revise changes the tree of a file that has the rules. It returns the names of those that no longer take values from
// other files.
func (n *docNode) revise(change Revision, before []rules.Rule) (unread []string, err error) {
	list := n.collection("rules")
	for _, name := range change.Remove {
		i := list.named(name)
		if i < 0 {
			return nil, fmt.Errorf("there is no rule %q to remove", name)
		}
		list.entries = slices.Delete(list.entries, i, i+1)
	}
	all := n.textOf("matching") == "all"
	for _, r := range change.Rules {
		r.Normalize()
		value := ruleTreeWithin(r, all)
		i := list.named(r.Name)
		if i < 0 {
			list.add("", value)
			continue
		}
		if old := list.entries[i].value; old.reads() && !value.keepCondition(old, &r, before) {
			unread = append(unread, r.Name)
		}
		list.entries[i].replace(value)
	}
	n.reviseTests(change.Tests)
	for _, label := range change.Labels {
		labels := n.collection("labels")
		if !slices.ContainsFunc(labels.entries, func(e *docEntry) bool { return strings.EqualFold(e.value.text, label) }) {
			labels.add("", &docNode{kind: docText, text: label})
		}
	}
	return unread, nil
}

// reads reports whether a rule takes values from other files.
func (n *docNode) reads() bool {
	return slices.ContainsFunc(n.all(nil), func(e *docEntry) bool { return e.key == "values_from" })
}

// keepCondition moves the condition of the old tree of a rule to the new one, if the rule still asks the same.
func (n *docNode) keepCondition(old *docNode, r *rules.Rule, before []rules.Rule) bool {
	same := func(was rules.Rule) bool { return was.Name == r.Name && reflect.DeepEqual(was.Condition, r.Condition) }
	condition := func(e *docEntry) bool { return e.key == "condition" }
	from, to := slices.IndexFunc(old.entries, condition), slices.IndexFunc(n.entries, condition)
	if from < 0 || to < 0 || !slices.ContainsFunc(before, same) {
		return false
	}
	n.entries[to], old.entries[from].of = old.entries[from], n
	old.entries = slices.Delete(old.entries, from, from+1)
	return true
}

func (n *docNode) reviseTests(tests []Test) {
	if len(tests) == 0 {
		return
	}
	list := n.collection("tests")
	for i := range tests {
		value := testTree(&tests[i])
		if at := list.named(tests[i].Name); at >= 0 {
			list.entries[at].replace(value)
		} else {
			list.add("", value)
		}
	}
}

// ruleTreeWithin returns the tree of the rule in a file whose rules do, or do not, let later rules be tried.
func ruleTreeWithin(r rules.Rule, all bool) *docNode {
	if !all {
		return ruleTree(&r)
	}
	stops := !r.Continue
	r.Continue = false
	tree := ruleTree(&r)
	if stops {
		tree.addBool("stop", true)
	}
	return tree
}

// collection is the list below a key of the root, which is made if it is not there.
func (n *docNode) collection(key string) *docNode {
	for _, e := range n.entries {
		if e.key != key {
			continue
		}
		if e.value.kind != docList {
			e.replace(&docNode{kind: docList})
		}
		return e.value
	}
	list := &docNode{kind: docList}
	n.add(key, list)
	return list
}

func (n *docNode) has(key string) bool {
	return slices.ContainsFunc(n.entries, func(e *docEntry) bool { return e.key == key })
}

// takeHead takes away the comments above the first entry.
func (n *docNode) takeHead() (head []docComment) {
	if len(n.entries) > 0 {
		first := n.entries[0]
		head, first.head = first.head, nil
	}
	return head
}

// textOf is the text below a key; empty without one.
func (n *docNode) textOf(key string) string {
	for _, e := range n.entries {
		if e.key == key {
			return e.value.text
		}
	}
	return ""
}

// named returns the index of the entry with the name; -1 if there is none.
func (n *docNode) named(name string) int {
	return slices.IndexFunc(n.entries, func(e *docEntry) bool { return e.value.textOf("name") == name })
}

// replace replaces a value; the old value's comments move above the entry.
func (e *docEntry) replace(value *docNode) {
	var left []docComment
	for _, within := range e.value.all(nil) {
		left = append(left, within.head...)
		if within.tail != "" {
			left = append(left, docComment{text: within.tail})
		}
		left = append(left, within.value.foot...)
	}
	e.addHead(append(left, e.value.foot...))
	e.value, value.owner = value, e
}
