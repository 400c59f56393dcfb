package gmailtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/rawmail"
	"github.com/postroom-go/postroom/internal/gmailquery"
	"github.com/postroom-go/postroom/queue"
)

// maker makes letters and queries of few words, so that many of them meet.
type maker struct{ *rand.Rand }

func (m maker) one(of ...string) string { return of[m.IntN(len(of))] }

func (m maker) word() string {
	return m.one("ann", "bob", "caf\u00e9", "Tea", "ann.bob", "com", "\u65e5\u672c")
}

func (m maker) words() string {
	all := make([]string, m.IntN(7))
	for i := range all {
		all[i] = m.word()
	}
	return strings.Join(all, " ")
}

func (m maker) letter(n int) string {
	return fmt.Sprintf(
		"Message-ID: <%d@example.com>\nFrom: %s <ann@example.com>\nTo: %s, %s\nCc: %s\nList-ID: %s\nSubject: %s\n\n%s\n",
		n, m.words(), m.word(), m.words(), m.words(), m.word(), m.words(), m.words())
}

func (m maker) query(depth int) string {
	if depth == 0 {
		switch m.IntN(9) {
		case 0:
			return `"` + m.word() + " " + m.word() + `"`
		case 1:
			return fmt.Sprintf("%s AROUND %d %s", m.word(), m.IntN(4), m.word())
		case 2:
			return m.one("in:inbox", "is:unread", "label:work", "has:userlabels", "is:read", "in:archive", "label:none")
		case 3:
			return m.one("larger:150", "smaller:180", "after:1772366460", "before:1772366470", "rfc822msgid:3@example.com")
		case 4, 5:
			return m.one("from:", "to:", "cc:", "subject:", "list:") + m.word()
		default:
			return m.word()
		}
	}
	a, b := m.query(m.IntN(depth)), m.query(m.IntN(depth))
	switch m.IntN(5) {
	case 0:
		return "-(" + a + ")"
	case 1:
		return a + " OR " + b
	case 2:
		return "{" + a + " " + b + "}"
	case 3:
		return m.one("subject:", "from:", "") + "(" + a + " " + b + ")"
	default:
		return a + " " + b
	}
}

// mail makes letters in the mailbox and returns what a query looks at of each.
func (m maker) mail(t *testing.T, s *Server) []gmailquery.Document {
	t.Helper()
	begin := time.Unix(1772366400, 0)
	var documents []gmailquery.Document
	require.NoError(t, s.CreateLabels(t.Context(), "Work"))
	for i := range 60 {
		a := arrival{
			account: s.owner.id, id: messageID(strconv.Itoa(i)), raw: []byte(m.letter(i)),
			received: begin.Add(time.Duration(i) * time.Second),
			labels:   [][]string{{"INBOX", "UNREAD"}, {"INBOX"}, {"Label_1", "UNREAD"}, {"SENT"}}[m.IntN(4)],
		}
		a.examine()
		require.NoError(t, s.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := a.insert(ctx, tx)
			return err
		}))
		d := gmailquery.Document{
			Words: a.words.Fields, Received: a.received, Size: int64(len(a.raw)), MessageID: a.rfc822ID, Marks: a.words.Marks,
		}
		for _, id := range a.labels {
			d.Labels = append(d.Labels, strings.Replace(strings.ToLower(id), "label_1", "work", 1))
			d.UserLabel = d.UserLabel || id == "Label_1"
		}
		documents = append(documents, d)
	}
	return documents
}

// The index finds what the definition of a query, gmailquery.Match, finds.
func TestTheIndexFindsWhatMatches(t *testing.T) {
	m := maker{rand.New(rand.NewPCG(9, 79))}
	s := NewServer(t)
	documents := m.mail(t, s)
	some := 0
	for range 1500 {
		q := m.query(3)
		query, err := gmailquery.Parse(q, gmailquery.Options{Now: s.now(), Me: s.Email()})
		require.NoError(t, err)
		var want []string
		for _, d := range slices.Backward(documents) {
			if gmailquery.Match(query, &d) {
				want = append(want, d.MessageID)
			}
		}
		require.Equal(t, want, searched(t, s, q), q)
		if len(want) > 0 && len(want) < len(documents) {
			some++
		}
	}
	require.Greater(t, some, 500, "the queries find something, and not all")
}

// searched gives the Message-IDs that a list with the query has.
func searched(t *testing.T, s *Server, q string) []string {
	t.Helper()
	r := &request{
		Request: &http.Request{}, account: s.owner,
		query: url.Values{"q": {q}, "maxResults": {"500"}, "includeSpamTrash": {"true"}},
	}
	p, err := s.parsePage(t.Context(), r)
	require.NoError(t, err)
	rows, _, err := p.messages(t.Context(), s.db.Reader())
	require.NoError(t, err, q)
	var found []string
	for _, row := range rows {
		raw, err := loadRaw(t.Context(), s.db.Reader(), row.Seq)
		require.NoError(t, err)
		header, _ := rawmail.Split(raw)
		found = append(found, strings.Trim(header.Get("Message-ID"), "<>"))
	}
	return found
}
