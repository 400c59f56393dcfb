package decide_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
)

// A spender answers each question, at the price of 300 tokens.
type spender struct{}

func (spender) Model() string { return "acme::small" }

func (spender) Complete(context.Context, *llm.Request) (*llm.Response, error) {
	used := llm.Usage{InputTokens: 200, OutputTokens: 100}
	return &llm.Response{Model: "acme::small", Usage: used, ToolCalls: []llm.ToolCall{
		{ID: "1", Name: decide.RecordDecision, Arguments: llmtest.Decision("none", "{}", 0.9)}}}, nil
}

// deciderWithTurns makes a decider with a budget of tokens a day, for an owner who has written to mom and to others at
// big.example.
func deciderWithTurns(t *testing.T, db queue.DB, tokens int64) *decide.Decider {
	t.Helper()
	for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, llm.Migrate, decide.Migrate} {
		require.NoError(t, migrate(t.Context(), db))
	}
	records, err := llm.NewRecords(llm.RecordsConfig{DB: db})
	require.NoError(t, err)
	client, err := llm.NewMetered(llm.MeteredConfig{Client: spender{}, Records: records,
		AccountBudget: llm.Budget{Tokens: tokens}, MaxOutputTokens: 64, KeepAnswers: -1})
	require.NoError(t, err)
	turns, err := decide.NewTurns(decide.TurnsConfig{DB: db, Records: records, AccountBudget: llm.Budget{Tokens: tokens},
		Written: func(_ context.Context, _, name string) (bool, error) {
			return slices.Contains([]string{"mom@home.example", "home.example", "big.example"}, name), nil
		}})
	require.NoError(t, err)
	return newDecider(t, decide.Config{Client: client, Turns: turns})
}

// letter is a mail, the sender of which is verified.
func letter(n int, from string) *postroom.Message {
	_, domain, _ := strings.Cut(from, "@")
	headers := []postroom.Header{
		{Name: "Received", Value: "from mail.example.com by mx.google.com with ESMTPS id x; Sun, 01 Mar 2026 12:00:00 +0000"},
		{Name: "Authentication-Results", Value: "mx.google.com; dmarc=pass header.from=" + domain},
	}
	return &postroom.Message{Headers: headers, ID: fmt.Sprintf("%s-%d", from, n), AccountID: "a1",
		From: postroom.Address{Email: from}, Subject: fmt.Sprintf("Letter %d", n), BodyPlain: "Hello.",
		ReceivedAt: time.Now().Add(-time.Minute)}
}

// Sixty mails of one stranger, from many addresses or subdomains of the domain, or as others who are not verified,
// leave mom's letter its place on the same day.
func TestAStrangerDoesNotSpendTheDay(t *testing.T) {
	for _, domain := range []string{"m%d@stranger.example", "one@big.example", "a@m%d.stranger.com", "mom@home.example"} {
		dbtest.Each(t, func(t *testing.T, db queue.DB) {
			const budget = 15_000
			decider := deciderWithTurns(t, db, budget)
			asked := 0
			var waits error
			for n := range 60 {
				from := domain
				if strings.Contains(from, "%d") {
					from = fmt.Sprintf(from, n)
				}
				msg := letter(n, from)
				if domain == "mom@home.example" {
					msg.Headers = nil
				}
				if _, err := decider.Decide(t.Context(), msg); err == nil {
					asked++
				} else {
					waits = err
				}
			}
			require.GreaterOrEqual(t, asked, 3)
			require.Less(t, asked, 60)
			require.ErrorIs(t, waits, llm.ErrBudget)
			require.Regexp(t, "you have never written to|a sender that is not verified", waits.Error())
			_, err := decider.Decide(t.Context(), letter(60, "mom@home.example"))
			require.NoError(t, err)
			for n := range 3 {
				_, err = decider.Decide(t.Context(), letter(n, "first@other.example"))
				require.NoError(t, err, "each stranger has three")
			}
		})
	}
}

// Nothing is kept of an account that is removed.
func TestTurnsAreForgotten(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		decider := deciderWithTurns(t, db, 0)
		count := func() (rows int) {
			require.NoError(t, dbquery.Get(t.Context(), db.Reader(), &rows, "SELECT COUNT(*) FROM llm_turns"))
			return rows
		}
		_, err := decider.Decide(t.Context(), letter(1, "a@stranger.example"))
		require.NoError(t, err)
		for _, account := range []string{"another", "a1"} {
			require.Positive(t, count())
			require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
				return decide.ForgetTurns(ctx, tx, account)
			}))
		}
		require.Zero(t, count())
	})
}

// Without a budget nobody waits.
func TestWithoutABudgetNobodyWaits(t *testing.T) {
	decider := deciderWithTurns(t, dbtest.SQLite(t), 0)
	for n := range 60 {
		_, err := decider.Decide(t.Context(), letter(n, "a@stranger.example"))
		require.NoError(t, err)
	}
}

// What waits for a model is asked about again in the order of its age: the newest is first.
func TestTheNewestIsAskedAboutFirst(t *testing.T) {
	db := dbtest.SQLite(t)
	decider := deciderWithTurns(t, db, 1)
	var log bytes.Buffer
	q, err := queue.New(db, &queue.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	d, err := queue.NewDispatcher(q, nil)
	require.NoError(t, err)
	now := time.Now()
	kind := queue.Type[int]("ask")
	queue.Handle(d, kind, func(ctx context.Context, w *queue.Work[int]) error {
		msg := letter(w.Payload, "mom@home.example")
		msg.ReceivedAt = now.Add(-time.Duration(w.Payload) * time.Hour)
		_, err := decider.Decide(ctx, msg)
		return err
	})
	var ids []string
	for _, hours := range []int{100, 1, 50, 0} {
		enqueued, err := q.Enqueue(t.Context(), kind.New(hours, nil))
		require.NoError(t, err)
		ids = append(ids, enqueued.ID)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	due := map[int]time.Time{}
	require.Eventually(t, func() bool {
		for i, hours := range []int{100, 1, 50, 0} {
			job, err := q.Job(t.Context(), ids[i])
			require.NoError(t, err)
			if job.State != queue.StateQueued || job.Interruptions == 0 {
				return false
			}
			due[hours] = job.NotBefore
		}
		return true
	}, time.Minute, 5*time.Millisecond)
	cancel()
	require.NoError(t, <-ended)
	require.NotContains(t, log.String(), "will run again", "a spent budget is logged once, and not for each mail")
	require.True(t, due[0].Before(due[1]) && due[1].Before(due[50]) && due[50].Before(due[100]), "%v", due)
}
