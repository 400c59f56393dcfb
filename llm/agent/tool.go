package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/internal/cleantext"
)

// A Scope is what a run is about. A tool gets it from the program: the model cannot choose another.
type Scope struct {
	AccountID string
	Message   *postroom.Message
	Thread    []*postroom.Message // oldest first, the message among them; the newest 20
	// Correspondent is the address of the message's sender, if the server has verified it; empty otherwise.
	Correspondent string
	// Key names the call: a call that is repeated after a crash has the same.
	Key string
}

// An Audience says to whom an answer may go after a tool was called.
type Audience int

// The audiences. The zero Audience is the stricter.
const (
	// CorrespondentOnly is the verified sender of the message alone. Without one, the tool is not offered.
	CorrespondentOnly Audience = iota
	// Participants are all participants of the thread.
	Participants
)

// A Tool is a function that the model may call. [NewTool] makes one.
type Tool struct {
	Name    string
	Summary string // for the model
	// Danger is Safe for a tool that only reads, and Reversible for one that changes something that can be taken back.
	// The latter is called without the gate, whatever a stranger has talked the model into, and not in a replay. There is
	// no dangerous tool: make it a kind of action.
	Danger postroom.Danger
	// Audience says to whom an answer may go after the tool was called. Default [CorrespondentOnly].
	Audience Audience
	// OwnersWords reports that the results are texts of the owner: the outcome may hold the links and addresses in them.
	// Default false: strangers may have written them.
	OwnersWords bool

	schema   json.RawMessage
	resolved *jsonschema.Resolved
	call     func(ctx context.Context, s *Scope, arguments []byte) (string, error)
}

// A FaultError is an error of a tool that the model is shown, so that it corrects its call. Other errors fail the
// attempt of the job, which is retried.
type FaultError struct{ Text string }

// Error returns the text.
func (f *FaultError) Error() string { return f.Text }

func faultf(format string, args ...any) error { return &FaultError{fmt.Sprintf(format, args...)} }

// NewTool makes a tool of a function whose arguments are the fields of the struct A, by their json and jsonschema tags.
// The function is called in a job that may be repeated, see Key of [Scope]. What it returns is shown to the model as a
// stranger's text. The danger has no default: give it. A struct without fields makes a tool that some providers refuse.
func NewTool[A any](name, summary string, danger postroom.Danger,
	fn func(ctx context.Context, s *Scope, arguments A) (string, error)) (Tool, error) {
	t := Tool{Name: name, Summary: summary, Danger: danger}
	if !profileName.MatchString(name) || strings.HasPrefix(name, finishPrefix) {
		return t, fmt.Errorf("llm/agent: tool %q: the name must be lower-case letters, digits and underscores, begin "+
			"with a letter and not with %s", name, finishPrefix)
	}
	var err error
	if t.schema, t.resolved, err = schemaOf[A](); err != nil {
		return t, fmt.Errorf("llm/agent: tool %s: its arguments: %w", name, err)
	}
	t.call = func(ctx context.Context, s *Scope, raw []byte) (string, error) {
		arguments, err := decodeArguments[A](raw, t.resolved)
		if err != nil {
			return "", err
		}
		return fn(ctx, s, arguments)
	}
	return t, nil
}

func schemaOf[A any]() (json.RawMessage, *jsonschema.Resolved, error) {
	schema, err := jsonschema.For[A](nil)
	if err != nil {
		return nil, nil, err
	}
	if schema.Type != "object" {
		return nil, nil, fmt.Errorf("they are %s; give a struct", schema.Type)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, nil, err
	}
	encoded, err := json.Marshal(schema)
	return encoded, resolved, err
}

// decodeArguments reads what the model wrote. Its errors are [*FaultError]s.
func decodeArguments[A any](raw []byte, schema *jsonschema.Resolved) (arguments A, err error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = []byte("{}")
	}
	var plain any
	if err := json.Unmarshal(raw, &plain); err != nil {
		return arguments, faultf("the arguments are not JSON: %v", err)
	}
	if err := schema.Validate(plain); err != nil {
		return arguments, faultf("the arguments do not fit the schema: %v", err)
	}
	if err := json.Unmarshal(raw, &arguments); err != nil {
		return arguments, faultf("the arguments do not fit the schema: %v", err)
	}
	return arguments, nil
}

// offered is the tool as a model gets it.
func (t *Tool) offered() llm.Tool {
	return llm.Tool{Name: t.Name, Description: t.Summary, Schema: t.schema}
}

// checkArguments refuses arguments with an address or a link, in any text: no tool takes one.
func checkArguments(raw []byte) error {
	var plain any
	if json.Unmarshal(raw, &plain) != nil {
		return nil //nolint:nilerr // decodeArguments says so
	}
	for _, text := range textsIn(plain) {
		if found := linksAndAddresses(text); len(found) > 0 {
			return faultf("%q is an address or a link, and no tool takes one: leave it out", found[0])
		}
	}
	return nil
}

// textsIn returns all strings of a decoded value, keys included.
func textsIn(value any) (texts []string) {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		for _, e := range v {
			texts = append(texts, textsIn(e)...)
		}
	case map[string]any:
		for k, e := range v {
			texts = append(append(texts, k), textsIn(e)...)
		}
	}
	return texts
}

var (
	schemeLike = regexp.MustCompile(`(?i)\b(?:[a-z][a-z0-9+.-]*://|www\.|mailto:|tel:|javascript:|data:)\S*`)
	domainLike = regexp.MustCompile(`(?i)(?:[^\s<>"'(),;:]+@)?(?:[\pL\pN](?:[\pL\pN_-]*[\pL\pN])?\.)+\pL[\pL\pN-]+(?:[/?#:]\S*)?`)
	// dots are characters that programs read as those of an address.
	dots = strings.NewReplacer("。", ".", "．", ".", "｡", ".", "＠", "@", "／", "/")
)

// linksAndAddresses returns what mail programs turn into links: addresses of the web and of mail, and bare domains
// whose end is a public suffix.
func linksAndAddresses(text string) (found []string) {
	text = dots.Replace(cleantext.Visible(text))
	found = schemeLike.FindAllString(text, -1)
	for _, candidate := range domainLike.FindAllString(text, -1) {
		host := candidate[strings.LastIndexByte(candidate, '@')+1:]
		if end := strings.IndexAny(host, "/?#:"); end >= 0 {
			host = host[:end]
		}
		host = strings.ToLower(host)
		if ascii, err := idna.Lookup.ToASCII(host); err == nil {
			host = ascii // the list has the suffixes of other scripts so
		}
		if _, known := publicsuffix.PublicSuffix(host); known || strings.Contains(candidate, "@") {
			found = append(found, candidate)
		}
	}
	return found
}
