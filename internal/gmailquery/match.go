package gmailquery

import (
	"slices"
	"time"
)

// A Document has the searchable parts of one message.
type Document struct {
	// Words are the words of each field except [Anywhere], split by [Words]; [Gap] separates the values of a list.
	Words map[Field][]string
	// Read returns the words of a field that Words lacks. Match calls it once for each such field of the query. Nil:
	// there are no more.
	Read func(f Field) []string

	Labels    []string // keys by [LabelKey]
	UserLabel bool     // one of them is not Gmail's own
	Marks     []string
	Received  time.Time
	Size      int64
	MessageID string
}

// words returns the words of a field.
func (d *Document) words(f Field) []string {
	words, known := d.Words[f]
	if !known && d.Read != nil {
		if d.Words == nil {
			d.Words = make(map[Field][]string)
		}
		words = d.Read(f)
		d.Words[f] = words
	}
	return words
}

// Match reports whether the query matches the message. It ignores [Query].Hidden.
func Match(q Query, d *Document) bool { return q.Root == nil || q.Root.match(d) }

// found are the fields that are searched if the query names none.
var found = []Field{Sender, Recipient, CC, BCC, Subject, Body, Filename}

// fields returns the fields that a condition on the field searches.
func (f Field) fields() []Field {
	if f == Anywhere {
		return found
	}
	return []Field{f}
}

func (n And) match(d *Document) bool {
	return !slices.ContainsFunc(n, func(one Node) bool { return !one.match(d) })
}

func (n Or) match(d *Document) bool {
	return slices.ContainsFunc(n, func(one Node) bool { return one.match(d) })
}

func (n Not) match(d *Document) bool { return !n.Node.match(d) }

func (n Phrase) match(d *Document) bool {
	return slices.ContainsFunc(n.Field.fields(), func(f Field) bool { return len(positions(d.words(f), n.Words)) > 0 })
}

func (n Around) match(d *Document) bool {
	return slices.ContainsFunc(n.Field.fields(), func(f Field) bool {
		lefts, rights := positions(d.words(f), n.Left), positions(d.words(f), n.Right)
		for _, left := range lefts {
			if slices.ContainsFunc(rights, func(right int) bool { return n.near(left, right) }) {
				return true
			}
		}
		return false
	})
}

// near reports whether phrases that begin there are apart by no more words than asked for. Two that end in the same
// word are not near but one, so that a word is not near itself.
func (n Around) near(left, right int) bool {
	distance := right + len(n.Right) - left - len(n.Left) // from end to end
	if distance < 0 {
		return -distance-len(n.Left) <= n.Between
	}
	return distance > 0 && distance-len(n.Right) <= n.Between
}

// positions are the places where the phrase begins.
func positions(words, phrase []string) []int {
	var all []int
	for i := 0; i+len(phrase) <= len(words); i++ {
		if slices.Equal(words[i:i+len(phrase)], phrase) {
			all = append(all, i)
		}
	}
	return all
}

func (n Label) match(d *Document) bool     { return slices.Contains(d.Labels, n.Key) }
func (n UserLabel) match(d *Document) bool { return d.UserLabel }
func (n Mark) match(d *Document) bool      { return slices.Contains(d.Marks, n.Name) }
func (n Date) match(d *Document) bool      { return n.After != d.Received.Before(n.At) }
func (n MessageID) match(d *Document) bool { return d.MessageID == n.ID }
func (n Never) match(*Document) bool       { return false }

func (n Size) match(d *Document) bool {
	if n.Larger {
		return d.Size > n.Bytes
	}
	return d.Size < n.Bytes
}
