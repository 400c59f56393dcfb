package drafting

import (
	"context"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// A SentDraft is a draft that was sent.
type SentDraft struct {
	AccountID string
	MessageID string              // Gmail's, of the message that was sent
	Draft     string              // the text as the Writer has written it
	Sent      string              // the text as it was sent, without what it answers
	Thread    []*postroom.Message // the stored messages of the thread, oldest first
}

// sentDraft finds out whether the message that a person has sent is a draft as it was written, and makes what is
// learned of it; nil for nothing. One that can never be read counts as edited.
func (w *work) sentDraft(ctx context.Context, messageID string) (count, func(context.Context, queue.Tx) error, error) {
	texts, err := w.Texts(ctx, w.reply)
	if err != nil {
		return "", nil, err
	}
	m, err := w.sentMessage(ctx, messageID)
	if err != nil || m == nil {
		return countSentEdited, nil, err
	}
	learn, err := w.lesson(ctx, &w.reply, texts, written(m))
	if err != nil {
		return "", nil, err
	}
	c := countSentEdited
	if _, ours := versions(texts).made(hashOf(m)); ours {
		c = countSent
	}
	return c, learn.of(messageID), nil
}

// sentMessage reads a message that was sent; nil if it can never be read.
func (w *work) sentMessage(ctx context.Context, id string) (*mime.Message, error) {
	client, err := gmailapi.FindClient(ctx, w.cfg.Clients, w.reply.AccountID)
	if err != nil {
		return nil, err
	}
	raw, err := client.GetRaw(ctx, id)
	switch gmailapi.ClassOf(err) {
	case gmailapi.ClassGone, gmailapi.ClassForbidden, gmailapi.ClassInvalid:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	content, err := raw.Bytes()
	if err != nil {
		return nil, nil //nolint:nilerr // it stays so
	}
	m, err := mime.ParseBytes(content, nil)
	if err != nil {
		return nil, nil //nolint:nilerr // it stays so
	}
	return m, nil
}

// A lesson is what is learned of a draft, by Gmail's id of the message that it became; nil for nothing.
type lesson func(messageID string) func(context.Context, queue.Tx) error

func (l lesson) of(messageID string) func(context.Context, queue.Tx) error {
	if l == nil {
		return nil
	}
	return l(messageID)
}

// lesson makes what is learned of a draft that is sent with a text.
func (s *Service) lesson(ctx context.Context, r *replies.Reply, texts []Text, sent string) (lesson, error) {
	if r.State != replies.Drafted { // what is being written was in no draft that a person has seen
		texts = slices.DeleteFunc(slices.Clone(texts), func(t Text) bool { return t.Turn >= r.Turn })
	}
	draft := versions(texts).last().Body
	if s.cfg.Sent == nil || draft == "" {
		return nil, nil
	}
	messages, err := s.messages(ctx, threadKey{r.AccountID, r.ThreadID})
	if err != nil { // without the words of others, nobody knows whose these are
		return nil, err
	}
	return func(messageID string) func(context.Context, queue.Tx) error {
		return s.cfg.Sent(SentDraft{r.AccountID, messageID, draft, sent, messages})
	}, nil
}
