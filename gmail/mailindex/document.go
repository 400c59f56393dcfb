package mailindex

import (
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/bodytext"
	"github.com/postroom-go/postroom/internal/gmailquery"
	"github.com/postroom-go/postroom/mime"
)

// searchLabels are the labels of an account as queries name them.
type searchLabels struct {
	ids  map[string][]string // by the keys in queries
	keys map[string]string   // by id
	user map[string]bool     // ids of those that are not Gmail's own
}

// newSearchLabels knows Gmail's own labels also when none were synced: their names are their ids.
func newSearchLabels(stored []postroom.Label) searchLabels {
	l := searchLabels{ids: map[string][]string{}, keys: map[string]string{}, user: map[string]bool{}}
	for _, id := range []string{
		postroom.LabelInbox, postroom.LabelUnread, postroom.LabelStarred, postroom.LabelImportant, postroom.LabelSent,
		postroom.LabelDraft, postroom.LabelSpam, postroom.LabelTrash, "CHAT",
		"CATEGORY_PERSONAL", "CATEGORY_SOCIAL", "CATEGORY_PROMOTIONS", "CATEGORY_UPDATES", "CATEGORY_FORUMS",
	} {
		l.add(postroom.Label{ID: id, Name: id, Type: postroom.LabelSystem})
	}
	for _, label := range stored {
		if l.keys[label.ID] == "" {
			l.add(label)
		}
	}
	return l
}

func (l *searchLabels) add(label postroom.Label) {
	key := gmailquery.LabelKey(label.Name)
	l.keys[label.ID] = key
	l.ids[key] = append(l.ids[key], label.ID)
	l.user[label.ID] = label.Type == postroom.LabelUser
}

// unknown returns the keys of the labels that a query names and that are none of these.
func (l *searchLabels) unknown(n gmailquery.Node) (keys []string) {
	gmailquery.EachLabel(n, func(key string) {
		if l.ids[key] == nil {
			keys = append(keys, key)
		}
	})
	slices.Sort(keys)
	return slices.Compact(keys)
}

// userIDs returns the ids of the labels that are not Gmail's own.
func (l *searchLabels) userIDs() (ids []string) {
	for id, user := range l.user {
		if user {
			ids = append(ids, id)
		}
	}
	return ids
}

// document returns the searchable parts of a message that was received at the time. Words are split on demand: most
// queries name a field, and the body costs the most.
func (l *searchLabels) document(m *postroom.Message, at time.Time) *gmailquery.Document {
	d := &gmailquery.Document{
		Read: func(f gmailquery.Field) []string {
			return fieldWords(m, f)
		}, Received: at, Size: m.Size, MessageID: m.MessageID,
	}
	for _, id := range m.LabelIDs {
		if key := l.keys[id]; key != "" {
			d.Labels = append(d.Labels, key)
		}
		d.UserLabel = d.UserLabel || l.user[id]
	}
	d.Marks = marksOf(m)
	return d
}

// fieldWords returns the words of a field of the message.
func fieldWords(m *postroom.Message, field gmailquery.Field) (all []string) {
	for _, text := range fieldTexts(m, field, nil) {
		words := gmailquery.Words(text)
		if len(words) > 0 && len(all) > 0 {
			all = append(all, gmailquery.Gap)
		}
		all = append(all, words...)
	}
	return all
}

func fieldTexts(m *postroom.Message, field gmailquery.Field, bodies *bodytext.Reader) (texts []string) {
	addresses := func(lists ...[]postroom.Address) []string {
		for _, list := range lists {
			for _, a := range list {
				texts = append(texts, a.String())
			}
		}
		return texts
	}
	switch field {
	case gmailquery.Sender:
		return []string{m.From.String()}
	case gmailquery.Recipient:
		return addresses(m.To, m.Cc, m.Bcc)
	case gmailquery.CC:
		return addresses(m.Cc)
	case gmailquery.BCC:
		return addresses(m.Bcc)
	case gmailquery.Subject:
		return []string{m.Subject}
	case gmailquery.Body:
		return []string{m.BodyPlain, bodies.HTMLText(m)}
	case gmailquery.List:
		return append(m.Header("List-ID"), m.Header("List-Post")...)
	case gmailquery.Delivered:
		return append(m.Header("Delivered-To"), m.Header("X-Delivered-To")...)
	case gmailquery.Filename:
		for _, a := range m.Attachments {
			texts = append(texts, a.Filename)
		}
	}
	return texts
}

// marksOf returns the values of has: that match the message.
func marksOf(m *postroom.Message) (marks []string) {
	for _, a := range m.Attachments {
		isFile := a.Kind == "" || a.Kind == string(mime.KindUnread)
		if isFile && (!a.Inline || a.Filename != "") || a.Kind == string(mime.KindCalendar) && a.Filename != "" {
			marks = append(marks, "attachment")
			break
		}
	}
	for _, link := range markedLinks {
		if strings.Contains(m.BodyPlain, link.address) || strings.Contains(m.BodyHTML, link.address) {
			marks = append(marks, link.mark)
		}
	}
	return marks
}

// markedLinks are addresses that make a message one with a file at Google, or a film.
var markedLinks = []struct{ mark, address string }{
	{"drive", "//drive.google.com/"},
	{"document", "//docs.google.com/document/"},
	{"spreadsheet", "//docs.google.com/spreadsheets/"},
	{"presentation", "//docs.google.com/presentation/"},
	{"youtube", "youtube.com/watch"},
	{"youtube", "//youtu.be/"},
}
