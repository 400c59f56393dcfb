package enrich_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

const (
	account = "account-1"
	owner   = "me@acme.example"
)

var received = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// A world is a mailbox and what is found out about its mail.
type world struct {
	testing.TB
	q       *queue.Queue
	service *enrich.Service

	mu    sync.Mutex
	mails map[string]*postroom.Message
	ended []string // the messages whose stages have ended, with the states
}

// newWorld makes a world on a queue; change may change the configuration.
func newWorld(t testing.TB, q *queue.Queue, change func(*enrich.Config)) *world {
	t.Helper()
	require.NoError(t, enrich.Migrate(t.Context(), q.DB()))
	w := &world{TB: t, q: q, mails: map[string]*postroom.Message{}}
	cfg := enrich.Config{Queue: q, Messages: w, OnEnded: w.onEnded,
		Owner:     func(context.Context, string) (string, error) { return owner, nil },
		WrittenTo: func(_ context.Context, _, email string) (bool, error) { return strings.HasPrefix(email, "friend"), nil }}
	if change != nil {
		change(&cfg)
	}
	var err error
	w.service, err = enrich.New(cfg)
	require.NoError(t, err)
	return w
}

// eachWorld runs a test on each engine.
func eachWorld(t *testing.T, change func(*enrich.Config), fn func(t *testing.T, w *world)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		fn(t, newWorld(t, q, change))
	})
}

func (w *world) Message(_ context.Context, accountID, id string) (*postroom.Message, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m := w.mails[id]; m != nil && m.AccountID == accountID {
		return m, nil
	}
	return nil, postroom.ErrNotFound
}

func (w *world) onEnded(_ context.Context, msg *postroom.Message, e *enrich.Enrichment) (
	func(context.Context, queue.Tx) error, error) {
	return func(context.Context, queue.Tx) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ended = append(w.ended, msg.ID+" "+string(e.State))
		return nil
	}, nil
}

// letter is mail that a person seems to have written.
func letter(id, from, text string) *postroom.Message {
	return &postroom.Message{ID: id, AccountID: account, From: postroom.Address{Email: from}, Subject: "Hello",
		To: []postroom.Address{{Email: owner}}, BodyPlain: text, ReceivedAt: received, Date: received,
		Headers: []postroom.Header{{Name: "From", Value: from}}}
}

// with adds header fields, as "Name: value".
func with(msg *postroom.Message, fields ...string) *postroom.Message {
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		msg.Headers = append(msg.Headers, postroom.Header{Name: name, Value: value})
	}
	return msg
}

// verified is a letter whose sender Gmail has verified.
func verified(msg *postroom.Message) *postroom.Message {
	fields := []postroom.Header{{Name: "Authentication-Results", Value: "mx.google.com; dkim=pass header.i=@" +
		msg.From.Domain() + "; dmarc=pass header.from=" + msg.From.Domain()},
		{Name: "Received", Value: "from a.example by mx.google.com with ESMTPS id x for <" + owner + ">"}}
	msg.Headers = append(fields, msg.Headers...)
	return msg
}

func newsletter(id string) *postroom.Message {
	return with(letter(id, "news@shop.example", "Much to read."), "List-Unsubscribe: <https://shop.example/u>",
		"List-Unsubscribe-Post: List-Unsubscribe=One-Click")
}

// arrive stores mail and begins with it.
func (w *world) arrive(msg *postroom.Message, answer *postroom.ModelAnswer) {
	w.Helper()
	w.mu.Lock()
	w.mails[msg.ID] = msg
	w.mu.Unlock()
	require.NoError(w, w.q.DB().Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
		return w.service.Arrived(ctx, tx, msg, answer)
	}))
}

func (w *world) register(d *queue.Dispatcher) { require.NoError(w, w.service.Register(d)) }

// work runs all jobs.
func (w *world) work() {
	w.Helper()
	queuetest.Work(w, w.q, w.register)
}

func (w *world) get(id string) *enrich.Enrichment {
	w.Helper()
	e, err := w.service.Get(w.Context(), account, id)
	require.NoError(w, err)
	return e
}

// told returns the result of mail that arrives now.
func (w *world) told(msg *postroom.Message) *enrich.Enrichment {
	w.Helper()
	w.arrive(msg, nil)
	w.work()
	return w.get(msg.ID)
}

// A model answers questions, and remembers them.
type model struct {
	mu     sync.Mutex
	asked  []decide.Question
	about  []string
	answer func(n int, stages []string) (postroom.ModelAnswer, error) // to the question n, from 1
}

func (m *model) Ask(_ context.Context, msg *postroom.Message, q decide.Question) (postroom.ModelAnswer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked, m.about = append(m.asked, q), append(m.about, msg.ID)
	if m.answer == nil {
		return answers(stagesOf(q)...), nil
	}
	return m.answer(len(m.asked), stagesOf(q))
}

// stagesOf returns the stages that a question asks about.
func stagesOf(q decide.Question) []string {
	var schema struct{ Required []string }
	if err := json.Unmarshal(q.Schema, &schema); err != nil {
		panic(err)
	}
	return schema.Required
}

var said = map[string]string{
	"category":   `"category": {"name": "work", "confidence": 0.9, "reasoning": "It is about work."}`,
	"importance": `"importance": {"level": "high", "score": 0.8, "confidence": 0.9, "reasoning": "She waits.", "action_items": [{"text": "Send the plan", "due": "2026-03-06"}]}`,
	"calendar":   `"calendar": {"confidence": 0.9, "reasoning": "It says so.", "events": [{"title": "Plan", "start": "2026-03-06T14:00", "end": "", "zone": "Europe/Berlin", "place": "Room 1", "attendees": ["Ada"]}]}`,
}

// answers answers about stages.
func answers(stages ...string) postroom.ModelAnswer {
	parts := make([]string, len(stages))
	for i, s := range stages {
		parts[i] = said[s]
	}
	return postroom.ModelAnswer{JSON: json.RawMessage("{" + strings.Join(parts, ", ") + "}"), Calls: 1, Tokens: 120}
}

// unsure is an answer about the category that is not sure.
func unsure(name string) postroom.ModelAnswer {
	return postroom.ModelAnswer{Calls: 1, Tokens: 120, JSON: fmt.Appendf(nil,
		`{"category": {"name": %q, "confidence": 0.79, "reasoning": "Perhaps."}}`, name)}
}

// sortedEnds returns what has ended since, with the states.
func (w *world) sortedEnds() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	ends := slices.Sorted(slices.Values(w.ended))
	w.ended = nil
	return ends
}
