package onboarding

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/rules"
)

// MaxMessages is how many of the newest messages are looked at.
const MaxMessages = 1000

// listed bounds the senders, and the lists, of a report.
const listed = 50

// A Kind is what a message is, by its header fields alone.
type Kind string

// The kinds. A message is of the first that fits.
const (
	Sent       Kind = "sent"       // by the owner
	Invitation Kind = "invitation" // to an appointment
	List       Kind = "list"       // of a mailing list that has an id
	Newsletter Kind = "newsletter" // sent in bulk, without the id of a list
	Automatic  Kind = "automatic"  // sent by a program, or by an address that takes no answer
	Person     Kind = "person"
)

// A Report is what the newest messages of a mailbox are. All texts in it but those of Labels and the names of Rules are
// strangers' words.
type Report struct {
	Messages int          `json:"messages"`         // that were looked at
	Since    time.Time    `json:"since,omitzero"`   // when the oldest of them came
	Until    time.Time    `json:"until,omitzero"`   // when the newest came
	Kinds    []Count      `json:"kinds"`            // the most frequent first
	Senders  []Sender     `json:"senders"`          // of what came, the most frequent first, at most 50
	Lists    []Sender     `json:"lists"`            // the most frequent first, at most 50
	Labels   []Label      `json:"labels"`           // that the rules need
	Rules    []Suggestion `json:"rules"`            // those about the most mail first
	MadeAt   time.Time    `json:"made_at,omitzero"` // zero for a report of [Look]
}

// A Count is how much mail is of a kind.
type Count struct {
	Kind     Kind `json:"kind"`
	Messages int  `json:"messages"`
	Unread   int  `json:"unread"`
}

// A Sender is an address, or a list by its id.
type Sender struct {
	ID       string `json:"id"` // the address, or the id of the list
	Name     string `json:"name,omitempty"`
	Kind     Kind   `json:"kind"` // of the newest message
	Messages int    `json:"messages"`
	Unread   int    `json:"unread"`
}

// A Label is one that a suggested rule puts on.
type Label struct {
	Name   string `json:"name"`
	Exists bool   `json:"exists"` // the mailbox has it
}

// Options are what [Look] knows besides the messages.
type Options struct {
	// Own are the owner's addresses. Default none: mail counts as sent by its label alone.
	Own []string
	// Labels are those of the mailbox. Default none.
	Labels []postroom.Label
	// Rules are those that the owner has. Default none.
	Rules []rules.Rule
}

// Look reads messages, newest first, at most [MaxMessages], and reports what they are. The bodies are not read. It
// returns the error of the sequence.
func Look(messages iter.Seq2[*postroom.Message, error], o Options) (Report, error) {
	verified, err := rules.Compile(rules.Condition{Type: rules.Authenticated})
	if err != nil {
		return Report{}, err
	}
	l := &look{options: o, verified: verified, kinds: map[Kind]*Count{}, groups: map[source]*group{}}
	for m, err := range messages {
		if err != nil {
			return Report{}, err
		}
		l.add(m)
		if l.report.Messages == MaxMessages {
			break
		}
	}
	return l.finish(), nil
}

// A source is what a rule could be about: an address, or a list.
type source struct {
	list bool
	id   string
}

// A group is the mail of a source.
type group struct {
	Sender

	verified int            // messages whose sender the server has verified
	labels   map[string]int // messages with each of the owner's labels
}

type look struct {
	options  Options
	verified *rules.Program
	report   Report
	kinds    map[Kind]*Count
	groups   map[source]*group
}

func (l *look) add(m *postroom.Message) {
	if l.report.Messages++; l.report.Messages == 1 {
		l.report.Until = m.ReceivedAt
	}
	l.report.Since = m.ReceivedAt
	header := make(mime.Header, len(m.Headers))
	for i, h := range m.Headers {
		header[i] = mime.Field{Name: h.Name, Value: h.Value}
	}
	list := header.List()
	kind, unread := l.kindOf(m, &list), m.HasLabel(postroom.LabelUnread)
	count := l.kinds[kind]
	if count == nil {
		count = &Count{Kind: kind}
		l.kinds[kind] = count
	}
	count.Messages++
	if unread {
		count.Unread++
	}
	if kind == Sent {
		return
	}
	if sender := strings.ToLower(m.From.Email); sender != "" {
		l.addTo(source{false, sender}, m.From.Name, kind, m, unread)
	}
	if id := strings.ToLower(list.ID); id != "" {
		l.addTo(source{true, id}, list.Name, kind, m, unread)
	}
}

func (l *look) addTo(of source, name string, kind Kind, m *postroom.Message, unread bool) {
	g := l.groups[of]
	if g == nil {
		g = &group{Sender: Sender{ID: of.id, Name: name, Kind: kind}, labels: map[string]int{}}
		l.groups[of] = g
	}
	g.Messages++
	if unread {
		g.Unread++
	}
	if l.verified.Match(m, m.ReceivedAt) {
		g.verified++
	}
	for _, id := range m.LabelIDs {
		g.labels[id]++
	}
}

// kindOf says what a message is. Only header fields and the types of attachments count.
func (l *look) kindOf(m *postroom.Message, list *mime.List) Kind {
	calendar := func(a postroom.Attachment) bool {
		return a.Kind == "calendar" || strings.EqualFold(a.ContentType, "text/calendar")
	}
	switch {
	case m.HasLabel(postroom.LabelSent) || slices.ContainsFunc(l.options.Own, func(own string) bool {
		return strings.EqualFold(own, m.From.Email)
	}):
		return Sent
	case slices.ContainsFunc(m.Attachments, calendar):
		return Invitation
	case list.ID != "":
		return List
	case isAutomatic(m):
		return Automatic
	case len(m.Header("List-Unsubscribe")) > 0 || hasPrecedence(m, "bulk", "list", "junk"):
		return Newsletter
	}
	return Person
}

// isAutomatic reports whether a program says that it has sent the message (RFC 3834, section 5), or nobody reads the
// answers.
func isAutomatic(m *postroom.Message) bool {
	for _, value := range m.Header("Auto-Submitted") {
		if word, _, _ := strings.Cut(value, ";"); !strings.EqualFold(strings.TrimSpace(word), "no") {
			return true
		}
	}
	local, _, _ := strings.Cut(strings.ToLower(m.From.Email), "@")
	local = strings.NewReplacer("-", "", "_", "", ".", "").Replace(local)
	return strings.HasPrefix(local, "noreply") || strings.HasPrefix(local, "donotreply") ||
		strings.HasPrefix(local, "mailerdaemon")
}

func hasPrecedence(m *postroom.Message, words ...string) bool {
	return slices.ContainsFunc(m.Header("Precedence"), func(value string) bool {
		return slices.Contains(words, strings.ToLower(strings.TrimSpace(value)))
	})
}

// finish makes the report of what was added.
func (l *look) finish() Report {
	r := &l.report
	r.Kinds, r.Senders, r.Lists = []Count{}, []Sender{}, []Sender{}
	for _, kind := range slices.Sorted(maps.Keys(l.kinds)) {
		r.Kinds = append(r.Kinds, *l.kinds[kind])
	}
	slices.SortStableFunc(r.Kinds, func(a, b Count) int { return cmp.Compare(b.Messages, a.Messages) })
	for _, of := range l.bySize() {
		to := &r.Senders
		if of.list {
			to = &r.Lists
		}
		if len(*to) < listed {
			*to = append(*to, l.groups[of].Sender)
		}
	}
	l.suggest()
	return *r
}

// bySize returns the sources, those of the most mail first, in an order that depends on nothing else than the mail.
func (l *look) bySize() []source {
	return slices.SortedFunc(maps.Keys(l.groups), func(a, b source) int {
		return cmp.Or(cmp.Compare(l.groups[b].Messages, l.groups[a].Messages), strings.Compare(a.id, b.id))
	})
}
