package gmailquery

import (
	"regexp"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/internal/suggest"
)

// A Doubt is a term that is probably a slip. It is no error, as at Gmail: Reason says what is made of it.
type Doubt struct {
	Term   string // as it is written
	Reason string
	Meant  string // what may be meant; empty: nothing is near
}

// What is made of a doubtful term.
const (
	asWords = "there is no such operator; it is searched for as words"
	asNever = "the operator does not know it; no message has it"
	ofNone  = "nothing follows the operator; no message has it"
)

// maxDoubts bounds what is said of one query.
const maxDoubts = 20

func (p *parser) doubt(d Doubt) {
	if len(p.doubts) < maxDoubts && !slices.Contains(p.doubts, d) {
		p.doubts = append(p.doubts, d)
	}
}

// likeOperator is what a person takes for an operator, and not a time or the address of a page.
var likeOperator = regexp.MustCompile(`^[A-Za-z_]{2,}:([^/]|$)`)

// doubtWord notes a word that looks like an operator with its value and is none.
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

// doubtValue notes a value that an operator does not know.
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

// values are those that an operator of few values knows; nil: it has others.
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
