package gmailquery

import (
	"regexp"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/internal/suggest"
)

// A Doubt is a term that is probably a typo. It is not an error, as at Gmail: Reason describes how the term is
// interpreted.
type Doubt struct {
	Term   string // as written
	Reason string
	Meant  string // the probable intention; empty if nothing is similar
}

// The interpretations of a doubtful term.
const (
	asWords = "there is no such operator; it is searched for as words"
	asNever = "the operator does not know it; no message has it"
	ofNone  = "nothing follows the operator; no message has it"
	unclear = "Gmail does not say what it means"
)

// maxDoubts bounds the doubts about one query.
const maxDoubts = 20

func (p *parser) doubt(d Doubt) {
	if len(p.doubts) < maxDoubts && !slices.Contains(p.doubts, d) {
		p.doubts = append(p.doubts, d)
	}
}

// likeOperator matches a text that a person takes for an operator, and not a time or the address of a page.
var likeOperator = regexp.MustCompile(`^[A-Za-z][A-Za-z_-]+:([^/]|$)`)

// doubtWord records a word that looks like an operator with its value but is not one.
func (p *parser) doubtWord(text string) {
	if !likeOperator.MatchString(text) {
		return
	}
	name, value, _ := strings.Cut(text, ":")
	names := make([]string, len(operators))
	for i, o := range operators {
		names[i] = o.Name
	}
	meant := suggest.Nearest(name, names)
	if meant != "" {
		meant += ":" + value
	}
	p.doubt(Doubt{Term: text, Reason: asWords, Meant: meant})
}

// doubtForm records a form that only [Options].Strict doubts.
func (p *parser) doubtForm(text string) {
	if p.Strict {
		p.doubt(Doubt{Term: text, Reason: unclear})
	}
}

// doubtList records a word that is probably a list, or a word of other languages of searches.
func (p *parser) doubtList(of *Operator, text string) {
	separators := "|"
	if of != nil && slices.Contains([]string{"from", "to", "cc", "bcc", "deliveredto"}, of.Name) {
		separators = "|,;"
	}
	if text == "NOT" || text == "AROUND" || strings.ContainsAny(text, separators) || strings.HasPrefix(text, ",") {
		p.doubtForm(text)
	}
}

// doubtValue records a value that an operator does not know.
func (p *parser) doubtValue(o *Operator, value string) {
	meant := ""
	if known := o.values(); known != nil {
		if near := suggest.Nearest(value, known); near != "" {
			meant = o.Name + ":" + near
		}
	} else {
		meant = o.Example
	}
	p.doubt(Doubt{Term: o.Name + ":" + value, Reason: asNever, Meant: meant})
}

// values are the values of operators with few values; nil for others.
func (o *Operator) values() []string {
	switch o.Name {
	case "is":
		return append([]string{"read"}, own...)
	case "category":
		return []string{"primary", "social", "promotions", "updates", "forums"}
	case "has":
		return append([]string{"userlabels", "nouserlabels", "yellow-star"}, Marks...)
	}
	return nil
}
