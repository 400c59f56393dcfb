package decide

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/postroom-go/postroom/llm"
)

// A model that calls no tool, or whose server does not read its calls, writes the decision into its text. This file
// finds it there.

// thoughts is a block of thoughts before an answer; what it holds is no answer.
var (
	thoughts      = regexp.MustCompile(`(?i)^\s*<(think|thinking|thought|reasoning)(?: [^<>]*)?>`)
	endOfThoughts = regexp.MustCompile(`(?i)</(think|thinking|thought|reasoning)>`)
)

// channels are the thoughts of models that mark them otherwise, with their end.
var channels = []struct {
	begin *regexp.Regexp
	end   string
}{
	{regexp.MustCompile(`^\s*(?:<\|start\|>assistant)?<\|channel\|>(?:analysis|commentary)<\|message\|>`), "<|end|>"},
	{regexp.MustCompile(`^\s*\[THINK\]`), "[/THINK]"},
	{regexp.MustCompile(`^\s*\x{25c1}think\x{25b7}`), "\u25c1/think\u25b7"},
}

// loneEnd is the end of thoughts without a beginning: amid a line it is quoted.
var loneEnd = regexp.MustCompile(`(?im)^[ \t]*</(think|thinking|thought|reasoning)>`)

// anAnswer is how an answer begins that no thoughts precede: with an object, a fence or an element.
var anAnswer = regexp.MustCompile("^\\s*([{<]|```)")

// anyThoughts is the beginning of thoughts, wherever it stands.
var anyThoughts = regexp.MustCompile(`(?i)<(think|thinking|thought|reasoning)>`)

// withoutThoughts removes a leading block of thoughts. One that does not end leaves nothing. The beginning may be
// missing: the templates of some models write it into the prompt. The end then begins a line, and what precedes it is
// no answer: the end of thoughts may be what the model quotes from the mail.
func withoutThoughts(text string) string {
	text = strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' })
	for _, c := range channels {
		if begin := c.begin.FindStringIndex(text); begin != nil {
			_, answer, _ := strings.Cut(text[begin[1]:], c.end)
			return withoutThoughts(answer)
		}
	}
	opened := thoughts.FindStringSubmatch(text)
	if opened == nil {
		end := loneEnd.FindStringIndex(text)
		if end == nil || anAnswer.MatchString(text) || anyThoughts.MatchString(text[:end[0]]) {
			return text
		}
		return text[end[1]:]
	}
	for _, end := range endOfThoughts.FindAllStringSubmatchIndex(text, -1) {
		if strings.EqualFold(text[end[2]:end[3]], opened[1]) {
			return text[end[1]:]
		}
	}
	return ""
}

// aDecision is part of every object that holds one, also of one whose arguments are encoded twice.
const aDecision = `"decision`

// findDecision finds the decision in a text: the one object that may hold a decision, in a fence, in a tool_call
// element, before words or after them. Of several objects none is the decision, nor is one in quotation marks or amid
// words: it may be what the model quotes from the mail.
func findDecision(text string) (string, error) {
	var found string
	decisions, quoted := 0, false
	text = withoutThoughts(text)
	if inner, ok := wholeText(text); ok {
		text = inner
	}
	err := eachObject(text, func(start, end int) {
		object := text[start:end]
		switch {
		case strings.Contains(object, aDecision):
			decisions++
			found, quoted = object, isQuoted(text[:start], text[end:])
		case decisions == 0 && found == "" && json.Valid([]byte(object)):
			found = object // the model is told what is missing in it
		}
	})
	switch {
	case err != nil:
		return "", err
	case decisions > 1:
		return "", fmt.Errorf("%w: it has %d objects that may be one; write one only", ErrAmbiguous, decisions)
	case quoted:
		return "", fmt.Errorf("%w: the one in it is quoted, or stands amid words; write nothing else", ErrAmbiguous)
	case found == "":
		return "", fmt.Errorf("%w: expected one of %s", ErrNoToolCall, RecordDecision)
	}
	return found, nil
}

// wholeText returns what an answer says that is nothing but a JSON text, or several in each other.
func wholeText(answer string) (inner string, ok bool) {
	for range maxWraps {
		answer = strings.TrimSpace(answer)
		if in := fenced.FindStringSubmatch(answer); in != nil {
			answer = in[1]
		}
		var text string
		if !strings.HasPrefix(answer, `"`) || json.Unmarshal([]byte(answer), &text) != nil {
			break
		}
		answer, ok = text, true
	}
	return answer, ok
}

// quotes reports whether the decision in a text stands in the mail as well, apart from blanks. The model then quotes
// the mail, whatever stands around it: a fence is around its own decisions too.
func quotes(resp *llm.Response, mail string) bool {
	if len(resp.ToolCalls) > 0 {
		return false
	}
	decision, err := argumentsOf(resp)
	return err == nil && strings.Contains(withoutBlanks(mail), withoutBlanks(decision))
}

var blanks = strings.NewReplacer(" ", "", "\t", "", "\r", "", "\n", "")

func withoutBlanks(s string) string { return blanks.Replace(s) }

var (
	quotationMark = regexp.MustCompile("(?:^|[^`])[`\"'\u2018\u201c\u201e\u00ab]\\s*$")
	quotedLine    = regexp.MustCompile(`(?:^|\n)[ \t]*>[^\n]*$`)
	// frame is what models put around an answer.
	frame = regexp.MustCompile("```[a-zA-Z0-9_-]*\\s*$|</?[a-z_|]+>\\s*$")
)

// isQuoted reports whether an object stands in quotation marks, in a line that is quoted as in mail, or amid words
// without a fence or an element around it.
func isQuoted(before, after string) bool {
	switch {
	case quotationMark.MatchString(before) && strings.TrimSpace(before) != "\"", quotedLine.MatchString(before):
		return true
	case frame.MatchString(before):
		return false
	}
	return strings.ContainsFunc(before, unicode.IsLetter) && strings.ContainsFunc(after, unicode.IsLetter)
}

// maxUnbalanced bounds the braces that nothing closes: each costs another look at the rest of the text.
const maxUnbalanced = 64

// eachObject calls yield with the place of each stretch of the text from a brace to the one that closes it.
func eachObject(text string, yield func(start, end int)) error {
	at := 0
	for unbalanced := 0; ; {
		next := strings.IndexByte(text[at:], '{')
		if next < 0 {
			return nil
		}
		at += next
		if length := balanced(text[at:]); length > 0 {
			yield(at, at+length)
			at += length
			continue
		}
		if unbalanced++; unbalanced > maxUnbalanced {
			return fmt.Errorf("%w: it has more than %d braces that nothing closes", ErrNotJSON, maxUnbalanced)
		}
		at++
	}
}

// balanced returns the end of the stretch from the brace that begins the text to the one that closes it; braces within
// strings do not count. It returns 0 if nothing closes it.
func balanced(text string) int {
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// fenced is a text that stands in a fence, with or without a language.
var fenced = regexp.MustCompile("(?s)^```[a-zA-Z0-9_-]*\\s*(.*?)\\s*```$")

// maxWraps bounds how often the arguments are wrapped.
const maxWraps = 4

// unwrap returns the arguments of a call without what models put around them: a fence, a JSON text that holds JSON, and
// an object with the name of the tool and its arguments.
func unwrap(arguments string) (string, error) {
	for range maxWraps {
		arguments = strings.TrimSpace(arguments)
		if in := fenced.FindStringSubmatch(arguments); in != nil {
			arguments = in[1]
			continue
		}
		if strings.HasPrefix(arguments, `"`) {
			var text string
			if json.Unmarshal([]byte(arguments), &text) != nil {
				break
			}
			arguments = text
			continue
		}
		name, inner, ok := callIn(arguments)
		if !ok {
			break
		}
		if !isRecordDecision(name) {
			return "", &WrongToolError{Expected: RecordDecision, Actual: name}
		}
		arguments = inner
	}
	return arguments, checkKeys(arguments)
}

// callIn reads an object that is a call: a name, and arguments or parameters, and no other decision.
func callIn(text string) (name, arguments string, ok bool) {
	var call map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &call) != nil || json.Unmarshal(call["name"], &name) != nil || checkKeys(text) != nil {
		return "", "", false
	}
	for key, given := range call {
		isArguments := key == "arguments" || key == "parameters"
		switch {
		case isArguments && arguments == "":
			arguments = string(given)
		case isArguments || strings.Contains(string(given), aDecision):
			return "", "", false // another decision
		}
	}
	return name, arguments, arguments != ""
}

func isRecordDecision(name string) bool { return isNamed(name, RecordDecision) }

// isNamed reports whether a name is that of the tool, with or without the namespace that some models write.
func isNamed(name, tool string) bool {
	name, _, _ = strings.Cut(strings.TrimSpace(name), "<|") // and what follows is the channel
	return name[strings.LastIndexAny(name, ".:/")+1:] == tool
}

// checkKeys returns an error if an object in the JSON has a key twice: readers differ in which one counts. Keys that
// differ in case only are the same. What is no JSON is no fault here.
func checkKeys(text string) error {
	decoder := json.NewDecoder(strings.NewReader(text))
	type level struct {
		keys map[string]bool // nil in a list
		key  bool            // a key follows
	}
	var open []level
	for {
		token, err := decoder.Token()
		if err != nil {
			return nil //nolint:nilerr // whoever decodes it says why
		}
		last := len(open) - 1
		switch delim, isDelim := token.(json.Delim); {
		case isDelim && (delim == '}' || delim == ']'):
			open = open[:last]
			continue
		case last >= 0 && open[last].key:
			key, _ := token.(string)
			if key = foldedKey(key); open[last].keys[key] {
				return fmt.Errorf("%w: the key %q is there twice", ErrNotJSON, key)
			}
			open[last].keys[key], open[last].key = true, false
			continue
		case last >= 0:
			open[last].key = open[last].keys != nil
		}
		switch token {
		case json.Delim('{'):
			open = append(open, level{keys: map[string]bool{}, key: true})
		case json.Delim('['):
			open = append(open, level{})
		}
	}
}

// foldedKey returns the form in which encoding/json compares keys: with the least of the letters that differ in case.
func foldedKey(key string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, key)
}
