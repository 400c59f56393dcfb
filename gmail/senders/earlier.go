package senders

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/internal/bodytext"
	"github.com/postroom-go/postroom/internal/gmailquery"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/postroom-go/postroom/mime/reply"
)

const (
	mostEarlier = 5        // messages
	mostWords   = 12       // of the message, that are searched for
	shortest    = 4        // characters of such a word; a shorter one says nothing
	maxRead     = 64 << 10 // bytes of a message
)

// Earlier returns earlier mail between the account and the sender of msg that has words of msg, in other threads: at
// most five messages, the most similar first. It is for a text that goes to the addresses in to. What it finds is fixed
// to this correspondence, so there is none if somebody else is in to, or unless Gmail has verified the sender of msg,
// and a message that claims to be of the sender counts only if Gmail has verified that.
func (c Correspondents) Earlier(ctx context.Context, msg *postroom.Message, to []string) ([]*postroom.Message, error) {
	address := mailname.Address(msg.From.Email)
	others := func(a string) bool { return mailname.Address(a) != address }
	words := searchWords(ctx, msg)
	if !isWord(address) || len(words) == 0 || len(to) == 0 || slices.ContainsFunc(to, others) || !isVerified(msg) {
		return nil, nil
	}
	query := ` {` + strings.Join(words, " ") + `}`
	if !msg.ReceivedAt.IsZero() {
		query += " before:" + strconv.FormatInt(msg.ReceivedAt.Unix(), 10)
	}
	var list []*postroom.Message
	for _, direction := range []string{"from:", "in:sent to:"} {
		found, err := c.Store.Search(ctx, msg.AccountID,
			mailindex.Search{Query: direction + `"` + address + `"` + query, Limit: mostSent})
		if err != nil {
			return nil, err
		}
		for _, m := range found.Messages {
			if m.ThreadID != msg.ThreadID && isBetween(m, address) {
				list = append(list, m)
			}
		}
	}
	shared := make(map[*postroom.Message]int, len(list))
	for _, m := range list {
		has := wordsOf(ctx, m)
		for _, word := range words {
			if slices.Contains(has, word) {
				shared[m]++
			}
		}
	}
	// The index has what is quoted as well.
	list = slices.DeleteFunc(list, func(m *postroom.Message) bool { return shared[m] == 0 })
	slices.SortStableFunc(list, func(a, b *postroom.Message) int {
		return cmp.Or(cmp.Compare(shared[b], shared[a]), b.ReceivedAt.Compare(a.ReceivedAt))
	})
	return list[:min(len(list), mostEarlier)], nil
}

// isBetween reports whether a message was written to an address by the owner, or by it.
func isBetween(m *postroom.Message, address string) bool {
	is := func(email string) bool { return mailname.Address(email) == address }
	switch {
	case m.HasLabel(postroom.LabelSent):
		return isWritten(m, is)
	case m.HasLabel(postroom.LabelDraft):
		return false
	}
	return is(m.From.Email) && isVerified(m)
}

// isVerified reports whether Gmail has verified the sender.
func isVerified(m *postroom.Message) bool {
	header := make(mime.Header, len(m.Headers))
	for i, f := range m.Headers {
		header[i] = mime.Field{Name: f.Name, Value: f.Value}
	}
	return len(m.Header("From")) <= 1 && authres.Read(header, authres.Server{ID: "mx.google.com", Below: true}).
		Verifies(mime.Address{Name: m.From.Name, Email: m.From.Email})
}

// wordsOf are the words of what the sender of a message has written, without what is quoted.
func wordsOf(ctx context.Context, m *postroom.Message) []string {
	text := reply.Split(bodytext.From(ctx).Body(m).Text).Written()
	return gmailquery.Words(m.Subject + " " + strings.ToValidUTF8(text[:min(len(text), maxRead)], ""))
}

// searchWords are the words to search for: those of the subject, then the longest.
func searchWords(ctx context.Context, m *postroom.Message) (list []string) {
	subject, all := gmailquery.Words(m.Subject), wordsOf(ctx, m)
	rest := slices.Clone(all[min(len(subject), len(all)):])
	slices.SortStableFunc(rest, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, word := range slices.Concat(subject, rest) {
		long := utf8.RuneCountInString(word) >= shortest ||
			len(word) > 2 && strings.IndexFunc(word, unicode.IsDigit) >= 0
		if long && !slices.Contains(list, word) {
			list = append(list, word)
		}
		if len(list) == mostWords {
			break
		}
	}
	return list
}
