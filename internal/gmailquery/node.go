package gmailquery

import (
	"fmt"
	"strings"
	"time"
)

// A Query is a parsed q.
type Query struct {
	// Root selects messages; nil selects all.
	Root Node
	// Doubts are the terms that are probably typos.
	Doubts []Doubt

	// Hidden reports that the query asks for spam or trash, which lists otherwise leave out.
	Hidden bool
}

// A Node is a condition on one message: [And], [Or], [Not], [Phrase], [Around], [Label], [UserLabel], [Mark], [Date],
// [Size], [MessageID] or [Never].
type Node interface {
	fmt.Stringer
	match(d *Document) bool
}

// And holds if all of its nodes do.
type And []Node

// Or holds if one of its nodes does.
type Or []Node

// Not holds if its node does not.
type Not struct{ Node Node }

// A Field is a part of a message that an operator searches.
type Field string

// The fields. Anywhere stands for all except List and Delivered.
const (
	Anywhere  Field = "anywhere"
	Sender    Field = "from"
	Recipient Field = "to" // To, Cc and Bcc
	CC        Field = "cc"
	BCC       Field = "bcc"
	Subject   Field = "subject"
	Body      Field = "body"
	Filename  Field = "filename"
	List      Field = "list"
	Delivered Field = "deliveredto"
)

// Phrase requires consecutive words in a field.
type Phrase struct {
	Field Field
	Words []string // as [Words] gives them; at least one
}

// Around requires two phrases in one field with at most Between words between them, in either order.
type Around struct {
	Field       Field
	Left, Right []string
	Between     int
}

// Label requires a label by its key: [LabelKey] of its name.
type Label struct{ Key string }

// UserLabel requires any label that is not Gmail's own.
type UserLabel struct{}

// Mark requires a property of the message, such as has:attachment.
type Mark struct{ Name string }

// Date bounds the internalDate: at or after an instant, or before it.
type Date struct {
	After bool
	At    time.Time
}

// Size bounds the size in bytes: larger or smaller than Bytes.
type Size struct {
	Larger bool
	Bytes  int64
}

// MessageID requires a Message-ID of RFC 5322, without angle brackets.
type MessageID struct{ ID string }

// Never matches no message. It stands for a value that an operator does not understand: Gmail then finds nothing and
// reports no error.
type Never struct{ Why string }

// EachLabel calls fn with the key of each label in a query. n may be nil.
func EachLabel(n Node, fn func(key string)) {
	switch n := n.(type) {
	case And:
		for _, one := range n {
			EachLabel(one, fn)
		}
	case Or:
		for _, one := range n {
			EachLabel(one, fn)
		}
	case Not:
		EachLabel(n.Node, fn)
	case Label:
		fn(n.Key)
	}
}

// LabelKey returns the key of a label's name in queries: "Receipts/Old stuff" is receipts-old-stuff.
func LabelKey(name string) string {
	return strings.NewReplacer(" ", "-", "/", "-", "_", "-").Replace(strings.ToLower(strings.TrimSpace(name)))
}

func (n And) String() string       { return list("and", n) }
func (n Or) String() string        { return list("or", n) }
func (n Not) String() string       { return "(not " + n.Node.String() + ")" }
func (n Phrase) String() string    { return fmt.Sprintf("%s:%q", n.Field, strings.Join(n.Words, " ")) }
func (n Label) String() string     { return "label:" + n.Key }
func (n UserLabel) String() string { return "userlabel" }
func (n Mark) String() string      { return "has:" + n.Name }
func (n MessageID) String() string { return "rfc822msgid:" + n.ID }
func (n Never) String() string     { return fmt.Sprintf("never(%s)", n.Why) }

func (n Around) String() string {
	return fmt.Sprintf("%s:(%q around %d %q)", n.Field, strings.Join(n.Left, " "), n.Between, strings.Join(n.Right, " "))
}

func (n Date) String() string {
	if n.After {
		return "since:" + n.At.UTC().Format(time.RFC3339)
	}
	return "before:" + n.At.UTC().Format(time.RFC3339)
}

func (n Size) String() string {
	if n.Larger {
		return fmt.Sprintf("larger:%d", n.Bytes)
	}
	return fmt.Sprintf("smaller:%d", n.Bytes)
}

func list(name string, nodes []Node) string {
	parts := []string{name}
	for _, n := range nodes {
		parts = append(parts, n.String())
	}
	return "(" + strings.Join(parts, " ") + ")"
}
