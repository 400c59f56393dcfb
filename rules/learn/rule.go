package learn

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
)

// Priority is that of learned rules: after all rules whose priority a person has not chosen to be higher.
const Priority = 900_000

// ruleOf makes the rule of a candidate. Its label is an id, which belongs to one account; so does the rule.
func ruleOf(c candidate, a Act, opts *Options) rules.Rule {
	rule := rules.NewRule(nameOf(c, a, opts), c.condition(), a.Action, a.Parameters())
	rule.AccountID, rule.Priority = opts.AccountID, Priority
	if c.base.kind != ofList { // the members of a list write from everywhere, and lists break signatures
		rule.Authentication = rules.AuthenticationRequired
	}
	return rule
}

// maxPart is how many characters of a value a rule's name has. Values are the sender's, and may be long.
const maxPart = 60

func nameOf(c candidate, a Act, opts *Options) string {
	var b strings.Builder
	whole := true
	add := func(before, value string) {
		text, all := visible(value)
		whole = whole && all
		b.WriteString(before + text)
	}
	switch c.base.kind {
	case ofList:
		add("Learned: list ", c.base.value)
	default:
		add("Learned: from ", c.base.value)
	}
	if c.base.kind == ofShape {
		add(", subject like ", c.base.shape)
	}
	switch c.extra.kind {
	case noExtra:
	case withList:
		add(", list ", c.extra.value)
	case withHeader:
		add(", "+c.extra.name+" ", c.extra.value)
	case withAttachment:
		add(", with ", c.extra.value)
	}
	b.WriteString(": " + strings.ReplaceAll(string(a.Action), "_", " "))
	if a.Label != "" {
		name := opts.LabelNames[a.Label]
		if name == "" {
			name = a.Label
		}
		add(" ", name)
	}
	if opts.Mailbox != "" {
		add(" for ", opts.Mailbox)
	}
	name, all := cut(b.String(), rules.MaxNameLength-9)
	if !whole || !all { // names are unique
		sum := sha256.Sum256([]byte(c.key(a) + opts.Mailbox))
		name += " " + hex.EncodeToString(sum[:4])
	}
	return name
}

// visible returns a text of a sender's as people may see it, and whether that is all of it.
func visible(s string) (string, bool) {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(s, ""))
	text, all := cut(clean, maxPart)
	return text, all && clean == s
}

func cut(s string, most int) (string, bool) {
	if utf8.RuneCountInString(s) <= most {
		return s, true
	}
	return string([]rune(s)[:most-1]) + "…", false
}

// usable reports whether the rule can be stored: a value may be one that a condition cannot have.
func usable(rule rules.Rule, kinds *postroom.Kinds) bool { return rule.Validate(kinds) == nil }
