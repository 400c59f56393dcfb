package postroom

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// A Variable is the name of something that a text says only once it is known which message it answers. In a text it
// stands in braces: {{first_name}}, or {{first_name|all}} with the words to use where it is not known.
type Variable string

// The variables of texts.
const (
	VarSenderName Variable = "sender_name" // the name of the sender
	VarFirstName  Variable = "first_name"  // the first name of the sender
	VarSubject    Variable = "subject"     // the subject of the message
	VarDate       Variable = "date"        // the day on which the message came, as 2027-01-31
	VarOwnName    Variable = "own_name"    // the name of the owner of the mailbox
)

// VarUntil is a variable of the text that answers mail while somebody is away, besides the [Variables]: the last day of
// that.
const VarUntil Variable = "until"

// Variables returns the variables of texts.
func Variables() []Variable {
	return []Variable{VarSenderName, VarFirstName, VarSubject, VarDate, VarOwnName}
}

// Words says to people what the variable stands for.
func (v Variable) Words() string {
	switch v {
	case VarSenderName:
		return "the name of the sender"
	case VarFirstName:
		return "the first name of the sender"
	case VarSubject:
		return "the subject"
	case VarDate:
		return "the date of the message"
	case VarOwnName:
		return "your own name"
	}
	return string(v)
}

var placeholder = regexp.MustCompile(`\{\{[^{}]*\}\}`)

// variableIn returns the name in a placeholder, and the words for where its value is not known.
func variableIn(placeholder string) (v Variable, otherwise string) {
	name, otherwise, _ := strings.Cut(strings.Trim(placeholder, "{}"), "|")
	return Variable(strings.TrimSpace(name)), strings.TrimSpace(otherwise)
}

// CheckVariables returns an error if a text has something in double braces that is neither one of the [Variables] nor
// one of those that are given besides.
func CheckVariables(text string, besides ...Variable) error {
	known := append(Variables(), besides...)
	for _, found := range placeholder.FindAllString(text, -1) {
		if v, _ := variableIn(found); !slices.Contains(known, v) {
			names := make([]string, len(known))
			for i, v := range known {
				names[i] = "{{" + string(v) + "}}"
			}
			return fmt.Errorf("%s is no variable; the variables are %s", found, strings.Join(names, ", "))
		}
	}
	return nil
}

// FillVariables returns the text with the values in place of the variables. Where a value is missing or empty, the
// text has the words that it names for this, or else those that missing returns. What is filled in is not filled again.
func FillVariables(text string, values map[Variable]string, missing func(v Variable) string) string {
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		v, otherwise := variableIn(found)
		switch {
		case values[v] != "":
			return values[v]
		case otherwise != "":
			return otherwise
		}
		return missing(v)
	})
}

// FillSome is FillVariables with those variables alone that have a value; the others stay as they are.
func FillSome(text string, values map[Variable]string) string {
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		if v, _ := variableIn(found); values[v] != "" {
			return values[v]
		}
		return found
	})
}

// VariablesOf returns what the variables stand for in an answer to a message, as far as it is known. They are a
// stranger's words: each is one line, and what looks like an address or a link is no name.
func VariablesOf(msg *Message, ownName string) map[Variable]string {
	name := nameIn(msg.From.Name)
	values := map[Variable]string{
		VarSenderName: name, VarFirstName: firstName(name), VarOwnName: oneLine(ownName),
		VarSubject: cut(oneLine(msg.Subject), maxSubjectIn),
	}
	if !msg.ReceivedAt.IsZero() {
		values[VarDate] = msg.ReceivedAt.Local().Format(time.DateOnly)
	}
	return values
}

// Bounds of what is filled in, in characters.
const (
	maxNameIn    = 80
	maxSubjectIn = 200
)

// nameIn returns the name that a sender gives; empty if it is none that a person would be addressed by.
func nameIn(name string) string {
	name = strings.Trim(oneLine(name), `"' `)
	if strings.ContainsAny(name, "@/\\<>{}") || len([]rune(name)) > maxNameIn {
		return ""
	}
	return name
}

// firstName returns the first name in "Ann Smith", "Smith, Ann" and "Dr. Ann Smith".
func firstName(name string) string {
	if _, given, ok := strings.Cut(name, ","); ok {
		name = given
	}
	for word := range strings.FieldsSeq(name) {
		if !strings.HasSuffix(word, ".") && strings.ContainsFunc(word, unicode.IsLetter) {
			return word
		}
	}
	return ""
}

// oneLine returns a text without control characters, in one line.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}
