package rulesfile

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/yamlscalar"
)

// Marshal returns the text of a rules file with the labels, the snippets and the rules of f, in its canonical form:
// [Parse] returns the same. The rules must be valid. Fields that files lack are omitted: ids, accounts, times, and why
// a rule is disabled. The priority and the scope of each rule are written if they are not the default.
func Marshal(f *File) []byte { return marshal(f, nil) }

// marshal writes notes above the rules, by their places in the file.
func marshal(f *File, notes map[int][]string) []byte {
	root := &docNode{kind: docMapping}
	if len(f.Labels) > 0 {
		root.add("labels", textList(f.Labels))
	}
	if len(f.Snippets) > 0 {
		root.add("snippets", snippetsTree(f.Snippets))
	}
	all := len(f.Rules) > 0 && !slices.ContainsFunc(f.Rules, func(r rules.Rule) bool { return !r.Continue })
	if all {
		root.addText("matching", "all")
	}
	list := &docNode{kind: docList}
	for i := range f.Rules {
		rule := f.Rules[i]
		rule.Continue = rule.Continue && !all
		list.add("", ruleTree(&rule))
		for _, note := range notes[i] {
			for line := range strings.Lines(note) {
				list.entries[i].head = append(list.entries[i].head, docComment{text: "# " + strings.Map(visible, line)})
			}
		}
	}
	root.add("rules", list)
	root.arrange(&fileShape)
	return root.format(nil)
}

// visible keeps a text of others within the comment that it is written into.
func visible(r rune) rune {
	switch {
	case r == '\n' || r == '\r':
		return -1
	case yamlscalar.MustEscape(r):
		return ' '
	}
	return r
}

func (n *docNode) add(key string, value *docNode) {
	e := &docEntry{key: key, value: value, of: n}
	value.owner = e
	n.entries = append(n.entries, e)
}

func (n *docNode) addText(key, value string) {
	if value != "" {
		n.add(key, &docNode{kind: docText, text: value})
	}
}

func (n *docNode) addTexts(key string, values []string) {
	if values != nil {
		n.add(key, textList(values))
	}
}

func (n *docNode) addBool(key string, value bool) {
	n.add(key, &docNode{kind: docPlain, text: strconv.FormatBool(value)})
}

func textList(texts []string) *docNode {
	list := &docNode{kind: docList}
	for _, text := range texts {
		list.add("", &docNode{kind: docText, text: text})
	}
	return list
}

func ruleTree(r *rules.Rule) *docNode {
	n := &docNode{kind: docMapping}
	n.addText("name", r.Name)
	n.addText("description", r.Description)
	if !r.Enabled {
		n.addBool("enabled", false)
	}
	if r.Scope != rules.ScopeGlobal {
		n.addText("scope", string(r.Scope))
	}
	n.addText("scope_ref", r.ScopeRef)
	if r.Priority != rules.DefaultPriority {
		n.add("priority", &docNode{kind: docPlain, text: strconv.Itoa(r.Priority)})
	}
	n.add("condition", conditionTree(&r.Condition))
	if len(r.Also) == 0 {
		addAction(n, rules.RuleAction{Type: r.Action, Parameters: r.Parameters})
	} else {
		actions := &docNode{kind: docList}
		for _, a := range r.Actions() {
			one := &docNode{kind: docMapping}
			addAction(one, a)
			actions.add("", one)
		}
		n.add("actions", actions)
	}
	if r.SafeMode != postroom.SafeDefault {
		n.addText("safe_mode", string(r.SafeMode))
	}
	if r.Continue {
		n.addBool("stop", false)
	}
	if s := scheduleTree(&r.Schedule); len(s.entries) > 0 {
		n.add("schedule", s)
	}
	n.addText("authentication", string(r.Authentication))
	return n
}

func addAction(n *docNode, a rules.RuleAction) {
	n.addText("action", string(a.Type))
	if len(a.Parameters) > 0 {
		n.add("parameters", plainTree(map[string]any(a.Parameters)))
	}
}

func scheduleTree(s *rules.Schedule) *docNode {
	n := &docNode{kind: docMapping}
	n.addText("from", s.From)
	n.addText("until", s.Until)
	n.addTexts("times", s.Times)
	n.addTexts("weekdays", s.Weekdays)
	n.addText("label_only_until", s.LabelOnlyUntil)
	n.addText("zone", s.Zone)
	return n
}

func conditionTree(c *rules.Condition) *docNode {
	n := &docNode{kind: docMapping}
	n.addText("op", string(c.Op))
	if c.Op != "" {
		children := &docNode{kind: docList}
		for i := range c.Children {
			children.add("", conditionTree(&c.Children[i]))
		}
		n.add("children", children)
	}
	for _, field := range []struct{ key, text string }{
		{"type", string(c.Type)}, {"header", c.Header}, {"part", c.Part}, {"match", string(c.Match)}, {"compare", string(c.Compare)},
		{"value", c.Value}, {"pattern", c.Pattern}, {"zone", c.Zone},
	} {
		n.addText(field.key, field.text)
	}
	n.addTexts("fields", c.Fields)
	n.addTexts("values", c.Values)
	if c.Index != 0 {
		n.add("index", &docNode{kind: docPlain, text: strconv.Itoa(c.Index)})
	}
	if c.CaseSensitive {
		n.addBool("case_sensitive", true)
	}
	return n
}

// plainTree is the tree of a value as encoding/json reads it.
func plainTree(value any) *docNode {
	switch v := value.(type) {
	case string:
		return &docNode{kind: docText, text: v}
	case []string:
		return textList(v)
	case []any:
		list := &docNode{kind: docList}
		for _, entry := range v {
			list.add("", plainTree(entry))
		}
		return list
	case map[string]any:
		n := &docNode{kind: docMapping}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			n.add(key, plainTree(v[key]))
		}
		return n
	default:
		text, err := json.Marshal(v) // numbers, true, false and null
		if err != nil {
			text = []byte("null")
		}
		return &docNode{kind: docPlain, text: string(text)}
	}
}

// FileOf returns a file with rules that were read from no file.
func FileOf(list []rules.Rule) *File {
	f := &File{Rules: list}
	for i := range list {
		for _, a := range list[i].Actions() {
			if label, ok := a.Parameters.Text(postroom.ParamLabel); ok && !slices.Contains(f.Labels, label) {
				f.Labels = append(f.Labels, label)
			}
		}
	}
	return f
}
