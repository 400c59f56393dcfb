package gmailfilter

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/gmailquery"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/lists"
)

// A query writes a condition in the language of Gmail's search.
type query struct {
	near    map[string]bool
	longest int // of a search
}

func (q *query) of(c *rules.Condition) (string, error) {
	switch c.Op {
	case "":
		return q.predicate(c)
	case rules.Not:
		inner, err := q.of(&c.Children[0])
		return negated(inner), err
	}
	var parts []string
	for rest := c.Children; len(rest) > 0; {
		part, length := "", 0
		if c.Op == rules.Or {
			part, length = importedPhrase(rest)
		}
		if length == 0 {
			var err error
			if part, err = q.of(&rest[0]); err != nil {
				return "", err
			}
			length = 1
		}
		parts, rest = append(parts, grouped(part)), rest[length:]
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	if c.Op == rules.Or {
		return "{" + strings.Join(parts, " ") + "}", nil
	}
	return "(" + strings.Join(parts, " ") + ")", nil
}

// grouped returns a form of the query that can follow a minus, or be combined with others.
func grouped(query string) string {
	if strings.HasPrefix(query, "(") || strings.HasPrefix(query, "{") || !strings.Contains(query, " ") ||
		strings.HasPrefix(query, `"`) {
		return query
	}
	return "(" + query + ")"
}

// negated is the opposite of a search; two minuses in a row are none.
func negated(query string) string {
	if strings.HasPrefix(query, "-") {
		return "-(" + query + ")"
	}
	return "-" + grouped(query)
}

func (q *query) predicate(c *rules.Condition) (string, error) {
	const inexact = "Gmail looks for whole words in any case and without accents, where the rule is exact"
	of := func(operator string, values []string) (string, error) {
		q.near[inexact] = true
		values = slices.Compact(slices.Clone(values))
		parts := make([]string, len(values))
		for i, value := range values {
			if strings.ContainsAny(value, "\"(){}\n") {
				return "", fmt.Errorf("%s: Gmail's search cannot look for %q", c, value)
			}
			parts[i] = operator + `"` + value + `"`
		}
		if len(parts) == 1 {
			return parts[0], nil
		}
		return "{" + strings.Join(parts, " ") + "}", nil
	}
	if phrase, length := importedPhrase([]rules.Condition{*c}); length > 0 {
		return phrase, nil
	}
	plain := c.Match == "" || c.Match == rules.Is
	switch c.Type {
	case rules.SenderEmail, rules.SenderDomain, rules.To, rules.Cc:
		operator := map[rules.Kind]string{rules.To: "to:", rules.Cc: "cc:"}[c.Type]
		return of(cmp.Or(operator, "from:"), lists.Texts(c.Alternatives(), func(v string) string {
			return strings.TrimPrefix(v, "*@")
		}))
	case rules.SubjectContains:
		return of("subject:", c.Alternatives())
	case rules.BodyContains:
		return of("", c.Alternatives())
	case rules.ListID:
		if plain {
			return of("list:", c.Alternatives())
		}
	case rules.Address:
		if operator := operatorOf(c); operator != "" {
			return of(operator, lists.Texts(c.Alternatives(), func(v string) string { return strings.TrimPrefix(v, "*.") }))
		}
		if owner := ownerOf(c); owner != "" && len(c.Fields) == 1 {
			return of(addressOperators[c.Fields[0]], []string{owner})
		}
	case rules.Header:
		if owner := ownerOf(c); owner != "" && slices.Equal(c.Fields, deliveredHeaders) {
			return of("deliveredto:", []string{owner})
		}
	case rules.LabelPresent:
		if operator := labelOperator(c.Value); operator != "" && len(c.Values) == 0 {
			return operator, nil
		}
	case rules.HasAttachment:
		return "has:attachment", nil
	case rules.LargerThan, rules.SmallerThan:
		size, err := rules.ParseSize(c.Value)
		return fmt.Sprintf("%s:%d", strings.TrimSuffix(string(c.Type), "_than"), size), err
	}
	return "", fmt.Errorf("%s: Gmail's search cannot say it", c)
}

// operatorOf returns the operator for whole addresses or domains in one field; empty if there is none.
func operatorOf(c *rules.Condition) string {
	if len(c.Fields) != 1 || c.CaseSensitive {
		return ""
	}
	whole := (c.Part == "" || c.Part == rules.PartAddress || c.Part == rules.PartDomain) &&
		(c.Match == "" || c.Match == rules.Is)
	domains := c.Part == rules.PartDomain && c.Match == rules.Wildcard &&
		!slices.ContainsFunc(c.Alternatives(), func(v string) bool {
			return strings.ContainsAny(strings.TrimPrefix(v, "*."), "*?\\")
		})
	if !whole && !domains {
		return ""
	}
	return addressOperators[c.Fields[0]]
}

var addressOperators = map[string]string{"from": "from:", "recipients": "to:", "cc": "cc:", "bcc": "bcc:"}

// ownerOf returns the address for which the condition is what [Import] makes of "me"; empty if it is another.
func ownerOf(c *rules.Condition) string {
	if c.Match != rules.Wildcard || len(c.Values) != 2 || c.CaseSensitive {
		return ""
	}
	name, domain, found := strings.Cut(c.Values[0], "@")
	if !found || strings.ContainsAny(c.Values[0], `*?\`) || c.Values[1] != name+"+*@"+domain {
		return ""
	}
	return c.Values[0]
}

// labelOperator returns the search for one of Gmail's own labels; empty for others.
func labelOperator(id string) string {
	switch {
	case !rules.IsSystemLabel(id):
		return ""
	case id == "CATEGORY_PERSONAL":
		return "category:primary"
	case strings.HasPrefix(id, "CATEGORY_"):
		return "category:" + strings.ToLower(strings.TrimPrefix(id, "CATEGORY_"))
	case id == postroom.LabelUnread || id == postroom.LabelStarred || id == postroom.LabelImportant:
		return "is:" + strings.ToLower(id)
	default:
		return "in:" + strings.ToLower(id)
	}
}

// phraseFields are the fields in which [Import] looks for phrases, with their operators.
var phraseFields = []struct {
	field    gmailquery.Field
	operator string
}{{gmailquery.Anywhere, ""}, {gmailquery.Sender, "from:"}, {gmailquery.Recipient, "to:"}, {gmailquery.CC, "cc:"},
	{gmailquery.BCC, "bcc:"}, {gmailquery.Subject, "subject:"}, {gmailquery.Filename, "filename:"},
	{gmailquery.List, "list:"}, {gmailquery.Delivered, "deliveredto:"}}

// importedPhrase returns the search for a phrase if the alternatives begin with what [Import] makes of one, and how
// many of them it is.
func importedPhrase(alternatives []rules.Condition) (search string, length int) {
	inner, found := strings.CutPrefix(alternatives[0].Value, phraseStart)
	inner, isWhole := strings.CutSuffix(inner, phraseEnd)
	words := strings.Split(inner, phraseSpace)
	if text := strings.Join(words, " "); !found || !isWhole || !slices.Equal(gmailquery.Words(text), words) {
		return "", 0
	}
	for _, in := range phraseFields {
		made, err := phraseCondition(gmailquery.Phrase{Field: in.field, Words: words})
		if err != nil {
			continue
		}
		parts := []rules.Condition{made}
		if made.Op == rules.Or {
			parts = made.Children
		}
		if len(parts) <= len(alternatives) && reflect.DeepEqual(parts, alternatives[:len(parts)]) {
			return in.operator + `"` + strings.Join(words, " ") + `"`, len(parts)
		}
	}
	return "", 0
}

// split returns searches that together find what the condition does, each short enough for a filter.
func (q *query) split(c *rules.Condition) ([]string, error) {
	search, err := q.of(c)
	if err != nil || len(search) <= q.longest {
		return []string{search}, err
	}
	first, second, ok := halves(c)
	if !ok && len(search) <= maxGmailQuery {
		return []string{search}, nil
	}
	if !ok {
		return nil, errors.New("its search is longer than the 1,500 characters that Gmail takes")
	}
	one, err := q.split(&first)
	if err != nil {
		return nil, err
	}
	other, err := q.split(&second)
	return append(one, other...), err
}

// halves returns two conditions of which one holds if the condition does.
func halves(c *rules.Condition) (first, second rules.Condition, ok bool) {
	first, second = *c, *c
	switch {
	case c.Op == "" && len(c.Values) > 1:
		half := len(c.Values) / 2
		first.Values, second.Values = c.Values[:half], c.Values[half:]
		return first, second, true
	case c.Op == rules.Or && len(c.Children) > 1:
		half := len(c.Children) / 2
		first.Children, second.Children = c.Children[:half], c.Children[half:]
		return first, second, true
	case c.Op == rules.And || c.Op == rules.Or:
		for i := range c.Children {
			if one, other, ok := halves(&c.Children[i]); ok {
				first.Children, second.Children = slices.Clone(c.Children), slices.Clone(c.Children)
				first.Children[i], second.Children[i] = one, other
				return first, second, true
			}
		}
	}
	return first, second, false
}
