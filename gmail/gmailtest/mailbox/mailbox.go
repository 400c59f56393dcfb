package mailbox

import (
	"iter"
	"strings"
	"time"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/rawmail"
)

// MaxMessage is the largest message that is read whole, in bytes: the largest that Gmail accepts.
const MaxMessage = 36_700_160

// OversizeKept is the number of bytes that are kept of a message larger than [MaxMessage].
const OversizeKept = 64 << 10

// A Source is a mailbox that can be read from its beginning any number of times.
type Source interface {
	// Name identifies the mailbox. It is the same each time the same mailbox is opened.
	Name() string

	// Messages yields the messages in order, one at a time. A message that could not be read properly is yielded with its
	// Problem, and reading continues. An error is the last value that is yielded.
	Messages() iter.Seq2[Message, error]
}

// A Message is one entry of a mailbox.
type Message struct {
	// Position counts the entries of the mailbox from 1.
	Position int

	// Name is the entry's file within a folder; empty in an mbox.
	Name string

	// Raw is the message as it was stored, with its line ends, but without the additions of the mailbox format. The
	// receiver may keep it.
	Raw []byte

	// Labels are the names in X-Gmail-Labels, as Google Takeout writes it. Labeled reports whether the message has that
	// header field: an empty list of labels differs from a missing one.
	Labels  []string
	Labeled bool

	// ThreadID is X-GM-THRID, a decimal number; empty when unknown.
	ThreadID string

	Flags Flags

	// Received is when the message arrived: from the mbox's From line or the maildir's file name, otherwise from the
	// Date field, otherwise the file's modification time.
	Received time.Time

	// Problem is the reason why Raw is not the message; empty if it is. Either the entry is larger than [MaxMessage],
	// and Raw has its first [OversizeKept] bytes, or its file cannot be read, and Raw is nil.
	Problem string
}

// Flags are the marks of other mail programs on a message.
type Flags struct {
	Seen, Answered, Flagged, Draft, Trashed bool
}

// describe sets the fields that come from the message's own header.
func (m *Message) describe() {
	header, _ := rawmail.Split(m.Raw)
	for _, f := range header {
		switch strings.ToLower(f.Name) {
		case "x-gmail-labels":
			m.Labels, m.Labeled = parseLabels(f.Value), true
		case "x-gm-thrid":
			m.ThreadID = f.Value
		case "status", "x-status":
			m.Flags.addStatus(f.Value)
		case "date":
			if m.Received.IsZero() {
				m.Received = parseDate(f.Value)
			}
		}
	}
}

// addStatus reads the letters of Status and X-Status, which mbox programs write.
func (f *Flags) addStatus(letters string) {
	for _, c := range letters {
		switch c {
		case 'R':
			f.Seen = true
		case 'A':
			f.Answered = true
		case 'F':
			f.Flagged = true
		case 'T':
			f.Draft = true
		case 'D':
			f.Trashed = true
		}
	}
}
