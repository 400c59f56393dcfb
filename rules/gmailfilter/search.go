package gmailfilter

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/gmailquery"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/lists"
	"github.com/postroom-go/postroom/rules/internal/translate"
)

// A search translates searches in Gmail's language.
type search struct {
	owner  string   // the address that "me" stands for
	nearly []string // what is approximate
}

func (s *search) condition(query string) (rules.Condition, error) {
	if strings.ContainsFunc(query, func(r rune) bool { return r >= 0x80 }) {
		return rules.Condition{}, fmt.Errorf(
			"%q has letters beyond ASCII, which Gmail compares without accents and rules do not", query)
	}
	parsed, err := understood(query)
	if err != nil {
		return rules.Condition{}, err
	}
	if parsed.Root == nil {
		return rules.Condition{}, fmt.Errorf("%q finds all mail", query)
	}
	c, err := s.node(parsed.Root)
	if err != nil {
		return rules.Condition{}, fmt.Errorf("%q: %w", query, err)
	}
	return c, nil
}

// understood returns a query if it is known what Gmail takes all of it for.
func understood(query string) (gmailquery.Query, error) {
	parsed, err := gmailquery.Parse(query, gmailquery.Options{Now: time.Now(), Strict: true})
	if err == nil && len(parsed.Doubts) > 0 {
		err = fmt.Errorf("it is not known what Gmail takes %s for", parsed.Doubts[0].Term)
	}
	if err != nil {
		return parsed, fmt.Errorf("%q: %w", query, err)
	}
	return parsed, nil
}

func (s *search) node(n gmailquery.Node) (rules.Condition, error) {
	switch n := n.(type) {
	case gmailquery.And:
		return s.nodes(rules.And, n)
	case gmailquery.Or:
		return s.nodes(rules.Or, n)
	case gmailquery.Not:
		c, err := s.node(n.Node)
		return rules.NoneOf(c), err
	case gmailquery.Phrase:
		if isOwner(n) {
			return s.ownerIn(n.Field)
		}
		return phraseCondition(n)
	case gmailquery.Label:
		return labelCondition(n.Key)
	case gmailquery.Size:
		kind := rules.SmallerThan
		if n.Larger {
			kind = rules.LargerThan
		}
		return rules.Condition{Type: kind, Value: translate.SizeText(n.Bytes)}, nil
	case gmailquery.Mark:
		if n.Name == "attachment" {
			return rules.Condition{Type: rules.HasAttachment}, nil
		}
		return rules.Condition{}, fmt.Errorf("has:%s has no condition", n.Name)
	case gmailquery.Date:
		return rules.Condition{}, errors.New("a date of arrival or an age says nothing about mail that arrives")
	case gmailquery.Around:
		return rules.Condition{}, errors.New("AROUND has no condition")
	default:
		return rules.Condition{}, fmt.Errorf("%s has no condition", n)
	}
}

func (s *search) nodes(op rules.Op, nodes []gmailquery.Node) (rules.Condition, error) {
	children := make([]rules.Condition, len(nodes))
	for i, n := range nodes {
		var err error
		if children[i], err = s.node(n); err != nil {
			return rules.Condition{}, err
		}
	}
	return translate.Joined(op, children), nil
}

// labelCondition looks for a label by its key in searches.
func labelCondition(key string) (rules.Condition, error) {
	id := strings.ToUpper(strings.Replace(key, "category-", "category_", 1))
	if !rules.IsSystemLabel(id) {
		return rules.Condition{}, fmt.Errorf("label:%s: mail that arrives has no labels of one's own", key)
	}
	return rules.Condition{Type: rules.LabelPresent, Value: id}, nil
}

// What surrounds and separates the words of a phrase in the regular expression that finds it.
const (
	phraseStart = `(?i)(?:^|[^\pL\pN])`
	phraseSpace = `[^\pL\pN]+`
	phraseEnd   = `(?:$|[^\pL\pN])`
)

func phrasePattern(words []string) string {
	return phraseStart + strings.Join(lists.Texts(words, regexp.QuoteMeta), phraseSpace) + phraseEnd
}

// addressFields are the fields of conditions for the fields of a search that have addresses.
var addressFields = map[gmailquery.Field]string{gmailquery.Sender: "from", gmailquery.Recipient: "recipients",
	gmailquery.CC: "cc", gmailquery.BCC: "bcc"}

// ownerIn finds the address of the account, also with a part after a plus sign, which Gmail delivers to it.
func (s *search) ownerIn(field gmailquery.Field) (rules.Condition, error) {
	name, domain, found := strings.Cut(s.owner, "@")
	if !found {
		return rules.Condition{}, errors.New(
			`"me" is the address of the account, which a filter does not say; name the mailbox`)
	}
	near := fmt.Sprintf(`"me" is %s, whereas Gmail knows all addresses of the owner`, s.owner)
	if !slices.Contains(s.nearly, near) {
		s.nearly = append(s.nearly, near)
	}
	values := []string{s.owner, name + "+*@" + domain}
	if field == gmailquery.Delivered {
		return rules.Condition{Type: rules.Header, Fields: deliveredHeaders, Match: rules.Wildcard, Values: values}, nil
	}
	return rules.Condition{Type: rules.Address, Fields: []string{addressFields[field]}, Match: rules.Wildcard,
		Values: values}, nil
}

// The headers that list: and deliveredto: search.
var (
	listHeaders      = []string{"List-Id", "List-Post"}
	deliveredHeaders = []string{"Delivered-To", "X-Delivered-To"}
)

// phraseCondition matches words as Gmail does: whole and adjacent, with any separators.
func phraseCondition(n gmailquery.Phrase) (rules.Condition, error) {
	pattern := phrasePattern(n.Words)
	text := func(kind rules.Kind) rules.Condition {
		return rules.Condition{Type: kind, Match: rules.Regex, Value: pattern}
	}
	inField := func(fields ...string) rules.Condition {
		of := rules.Condition{Type: rules.Address, Fields: fields, Match: rules.Regex, Value: pattern}
		name := of
		name.Part = rules.PartName
		return rules.AnyOf(of, name)
	}
	inHeaders := func(names []string) rules.Condition {
		return rules.Condition{Type: rules.Header, Fields: names, Match: rules.Regex, Value: pattern}
	}
	switch n.Field {
	case gmailquery.Sender, gmailquery.Recipient, gmailquery.CC, gmailquery.BCC:
		return inField(addressFields[n.Field]), nil
	case gmailquery.Subject:
		return text(rules.Subject), nil
	case gmailquery.Body:
		return text(rules.Body), nil
	case gmailquery.Filename:
		return text(rules.AttachmentName), nil
	case gmailquery.List:
		return inHeaders(listHeaders), nil
	case gmailquery.Delivered:
		return inHeaders(deliveredHeaders), nil
	case gmailquery.Anywhere:
		return translate.Joined(rules.Or, []rules.Condition{text(rules.Subject), text(rules.Body),
			inField("from", "recipients"), text(rules.AttachmentName)}), nil
	}
	return rules.Condition{}, fmt.Errorf("a search in %s has no condition", n.Field)
}

// isOwner reports whether a search is for the account's own address: Gmail does not look for the word "me" there.
func isOwner(n gmailquery.Phrase) bool {
	switch n.Field {
	case gmailquery.Sender, gmailquery.Recipient, gmailquery.CC, gmailquery.BCC, gmailquery.Delivered:
		return len(n.Words) == 1 && strings.EqualFold(n.Words[0], "me")
	default:
		return false
	}
}
