package rules

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules/internal/yamlscalar"
)

// parametersHint shows how the parameters of an action are written, unless all of them are given: then the fault
// describes the error.
func parametersHint(kinds *postroom.Kinds, a RuleAction) string {
	kind, ok := kinds.Kind(a.Type)
	if !ok {
		return ""
	}
	example := exampleOf(&kind)
	if kind.CheckParameters(example, time.Time{}) != nil {
		return describeParameters(&kind)
	}
	lacks := false
	var written []string
	for _, p := range kind.Parameters {
		if value, ok := example[p.Name]; ok {
			written = append(written, p.Name+": "+flowValue(value))
			lacks = lacks || a.Parameters[p.Name] == nil || a.Parameters[p.Name] == ""
		}
	}
	if !lacks {
		return ""
	}
	return "write parameters: {" + strings.Join(written, ", ") + "}"
}

// exampleOf returns the example of the kind, or one made of its required parameters.
func exampleOf(kind *postroom.Kind) postroom.Parameters {
	if kind.Example != nil {
		return kind.Example
	}
	example := postroom.Parameters{}
	for _, p := range kind.Parameters {
		if p.Required {
			example[p.Name] = exampleValue(p)
		}
	}
	return example
}

// ellipsis replaces a text that only the user knows.
const ellipsis = "…"

func exampleValue(p postroom.Parameter) any {
	switch {
	case len(p.Values) > 0:
		return p.Values[0]
	case p.Recipient:
		return "name@example.com"
	case p.Type == postroom.IntegerParameter && (p.Min != 0 || p.Max != 0):
		return p.Max
	case p.Type == postroom.IntegerParameter:
		return 1
	case p.Type == postroom.BooleanParameter:
		return true
	case p.Type == postroom.TimeParameter:
		return "2027-01-31T08:00:00Z"
	}
	return ellipsis
}

func flowValue(value any) string {
	if text, ok := value.(string); ok && text != ellipsis {
		return yamlscalar.Format(text, true)
	} else if ok {
		return text
	}
	text, err := json.Marshal(value) // which YAML reads as it is
	if err != nil {
		return ellipsis
	}
	return string(text)
}

// describeParameters lists the parameters of a kind with a check that cannot be shown by example.
func describeParameters(kind *postroom.Kind) string {
	texts := make([]string, len(kind.Parameters))
	for i, p := range kind.Parameters {
		texts[i] = strings.TrimSuffix(p.Name+" ("+p.Summary+")", " ()")
	}
	if len(texts) == 0 {
		return ""
	}
	return "its parameters are " + strings.Join(texts, ", ")
}
