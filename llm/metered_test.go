package llm_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
)

// records are kept where it is noon now, so that no test runs into the next day.
func records(t *testing.T, db queue.DB) *llm.Records {
	t.Helper()
	require.NoError(t, llm.Migrate(t.Context(), db))
	now := time.Now().UTC()
	sinceNoon := now.Sub(now.Truncate(24 * time.Hour).Add(12 * time.Hour))
	r, err := llm.NewRecords(llm.RecordsConfig{DB: db, Zone: time.FixedZone("noon", -int(sinceNoon.Seconds()))})
	require.NoError(t, err)
	return r
}

func metered(t *testing.T, cfg llm.MeteredConfig) *llm.Metered {
	t.Helper()
	cfg.Model, cfg.Logger = "acme::small", slog.New(slog.DiscardHandler)
	m, err := llm.NewMetered(cfg)
	require.NoError(t, err)
	return m
}

var dear = &llm.Price{Input: 10 * llm.Dollar, Output: 50 * llm.Dollar}

func spends(text string, input, output int) llmtest.Turn {
	turn := llmtest.Says(text)
	turn.Response.Usage = llm.Usage{InputTokens: input, OutputTokens: output}
	return turn
}

func asks(account, text string) *llm.Request {
	return &llm.Request{AccountID: account, Purpose: "test", Messages: []llm.Message{{Role: llm.RoleUser, Text: text}}}
}

func allCalls(t *testing.T, r *llm.Records) []llm.Call {
	t.Helper()
	calls, err := r.Calls(t.Context(), time.Now().Add(-time.Hour), time.Now().Add(time.Hour), 1000)
	require.NoError(t, err)
	return calls
}

func TestMeteredRecordsEachCall(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		r := records(t, db)
		refusal := &llm.Error{Provider: "acme", Reason: llm.ErrRefused, RequestID: "req_2",
			Usage: llm.Usage{InputTokens: 5}, Err: errors.New("no\x00pe")}
		m := metered(t, llm.MeteredConfig{
			Records: r, Price: dear,
			Client: llmtest.NewScripted(t, spends("one", 1000, 100), llmtest.Fails(refusal),
				llmtest.Fails(&llm.Error{Reason: llm.ErrOverloaded})),
		})
		span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{1}})
		ctx := trace.ContextWithSpanContext(t.Context(), span)
		resp, err := m.Complete(ctx, asks("a", "1"))
		require.NoError(t, err)
		require.Equal(t, llm.Dollars(0.015), resp.Cost)
		_, err = m.Complete(ctx, asks("a", "2"))
		require.ErrorIs(t, err, llm.ErrRefused)
		_, err = m.Complete(ctx, asks("a", "3"))
		require.ErrorIs(t, err, llm.ErrOverloaded)
		again, err := m.Complete(ctx, asks("a", "1"))
		require.NoError(t, err)
		require.True(t, again.Cached)
		require.Equal(t, "one", again.Text)
		require.Zero(t, again.Cost)

		calls := allCalls(t, r)
		require.Len(t, calls, 4)
		var outcomes []llm.CallState
		for _, c := range calls {
			outcomes = append(outcomes, c.State)
			require.Equal(t, "acme::small", c.Model)
			require.Equal(t, span.TraceID().String(), c.TraceID)
			require.Equal(t, "a", c.AccountID)
		}
		require.Equal(t, []llm.CallState{llm.Answered, llm.Refused, llm.Failed, llm.Cached}, outcomes)
		require.Equal(t, []string{calls[0].ID, string(llm.EqualRequest)},
			[]string{calls[3].ReusedFrom, string(calls[3].ReusedWhy)})
		require.Empty(t, calls[0].ReusedFrom)
		require.Equal(t, llm.Usage{InputTokens: 1000, OutputTokens: 100}, calls[0].Usage)
		require.Contains(t, calls[1].Failure, "refused")
		require.Equal(t, "req_2", calls[1].RequestID)
		for _, account := range []string{"", "a"} {
			spent, err := r.Spent(t.Context(), account, time.Now(), time.Now())
			require.NoError(t, err)
			require.Equal(t, llm.Spend{Calls: 2, Tokens: 1105, Cost: llm.Dollars(0.01505)}, spent)
		}
	})
}

func TestAnswersAreKeptForEqualRequestsOnly(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		r := records(t, db)
		m := metered(t, llm.MeteredConfig{Records: r, Client: llmtest.NewScripted(t, spends("one", 1, 1),
			spends("two", 1, 1), spends("three", 1, 1))})
		first, second := asks("a", "mark x1 end"), asks("a", "mark y2 end")
		first.Random, second.Random = []string{"x1"}, []string{"y2"}
		for i, test := range []struct {
			req  *llm.Request
			want string
		}{{first, "one"}, {second, "one"}, {asks("b", "mark x1 end"), "two"}, {asks("a", "mark y2 end"), "three"}} {
			resp, err := m.Complete(t.Context(), test.req)
			require.NoError(t, err)
			require.Equal(t, test.want, resp.Text, "request %d", i)
		}
		streamed := ""
		second.Stream = func(c llm.Chunk) error { streamed += c.Text; return nil }
		_, err := m.Complete(t.Context(), second)
		require.NoError(t, err)
		require.Equal(t, "one", streamed)
	})
}

func TestAnswersExpireAndAreShared(t *testing.T) {
	db := dbtest.SQLite(t)
	r := records(t, db)
	none := metered(t, llm.MeteredConfig{Records: r, KeepAnswers: -1, Client: llmtest.NewScripted(t, spends("one", 1, 1),
		spends("two", 1, 1))})
	for _, want := range []string{"one", "two"} {
		resp, err := none.Complete(t.Context(), asks("a", "x"))
		require.NoError(t, err)
		require.Equal(t, want, resp.Text)
	}
	brief := metered(t, llm.MeteredConfig{Records: r, KeepAnswers: time.Nanosecond,
		Client: llmtest.NewScripted(t, spends("one", 1, 1), spends("two", 1, 1))})
	for _, want := range []string{"one", "two"} {
		resp, err := brief.Complete(t.Context(), asks("a", "y"))
		require.NoError(t, err)
		require.Equal(t, want, resp.Text)
	}
	shared := metered(t, llm.MeteredConfig{Records: r, ShareAnswers: true,
		Client: llmtest.NewScripted(t, spends("one", 1, 1))})
	for _, account := range []string{"a", "b", ""} {
		_, err := shared.Complete(t.Context(), asks(account, "z"))
		require.NoError(t, err)
	}
	deleted, err := r.Prune(t.Context(), time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, 7, deleted)
	require.Empty(t, allCalls(t, r))
}

func TestABudgetStopsBeforeTheCall(t *testing.T) {
	for name, test := range map[string]struct {
		cfg  llm.MeteredConfig
		free string // an account that may go on
	}{
		"tokens of an account":   {llm.MeteredConfig{AccountBudget: llm.Budget{Tokens: 2500}}, "b"},
		"money of an account":    {llm.MeteredConfig{AccountBudget: llm.Budget{Cost: llm.Dollars(0.07)}, Price: dear}, "b"},
		"tokens of all accounts": {llm.MeteredConfig{TotalBudget: llm.Budget{Tokens: 2500}}, ""},
		"money of all accounts":  {llm.MeteredConfig{TotalBudget: llm.Budget{Cost: llm.Dollars(0.07)}, Price: dear}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				test.cfg.Records = records(t, db)
				turns := []llmtest.Turn{spends("one", 1500, 500)}
				if test.free != "" {
					turns = append(turns, spends("two", 1, 1))
				}
				test.cfg.Client = llmtest.NewScripted(t, turns...)
				m := metered(t, test.cfg)
				_, err := m.Complete(t.Context(), asks("a", "1"))
				require.NoError(t, err)
				_, err = m.Complete(t.Context(), asks("a", "2"))
				require.ErrorIs(t, err, llm.ErrBudget)
				var e *llm.Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, llm.Deferred, e.Class())
				require.Positive(t, e.RetryAfter)
				require.LessOrEqual(t, e.RetryAfter, 25*time.Hour)
				if test.free != "" {
					_, err = m.Complete(t.Context(), asks(test.free, "2"))
					require.NoError(t, err)
				}
				_, err = m.Complete(t.Context(), asks("a", "1"))
				require.NoError(t, err, "what is kept costs nothing")
			})
		})
	}
}

// gate holds calls until it is opened.
type gate struct {
	entered chan struct{}
	open    chan struct{}
}

func (g *gate) Complete(context.Context, *llm.Request) (*llm.Response, error) {
	g.entered <- struct{}{}
	<-g.open
	return &llm.Response{Text: "x", Usage: llm.Usage{InputTokens: 1, OutputTokens: 1}}, nil
}

func TestCallsAtOnceCannotExceedABudget(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		const calls, fit = 8, 3
		g := &gate{entered: make(chan struct{}, calls), open: make(chan struct{})}
		m := metered(t, llm.MeteredConfig{Records: records(t, db), Client: g,
			TotalBudget: llm.Budget{Tokens: fit*1024 + 512}})
		var wg sync.WaitGroup
		refused := make(chan error, calls)
		for i := range calls {
			wg.Go(func() {
				if _, err := m.Complete(t.Context(), asks("a", string(rune('a'+i)))); err != nil {
					refused <- err
				}
			})
		}
		for range fit {
			<-g.entered
		}
		for range calls - fit {
			require.ErrorIs(t, <-refused, llm.ErrBudget)
		}
		close(g.open)
		wg.Wait()
		require.Empty(t, g.entered, "no more calls than fit")
	})
}

func TestACallWhoseCallerHasGoneIsRecorded(t *testing.T) {
	db := dbtest.SQLite(t)
	r := records(t, db)
	g := &gate{entered: make(chan struct{}, 1), open: make(chan struct{})}
	m := metered(t, llm.MeteredConfig{Records: r, Client: g})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-g.entered
		cancel()
		close(g.open)
	}()
	_, err := m.Complete(ctx, asks("a", "1"))
	require.NoError(t, err)
	require.Equal(t, llm.Answered, allCalls(t, r)[0].State)
	resp, err := m.Complete(t.Context(), asks("a", "1"))
	require.NoError(t, err)
	require.True(t, resp.Cached, "what was paid for is kept")
}

func TestForecast(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, llm.Migrate(t.Context(), db))
		r, err := llm.NewRecords(llm.RecordsConfig{DB: db})
		require.NoError(t, err)
		now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
		forecast := func() llm.Forecast {
			f, err := r.Forecast(t.Context(), "a", now)
			require.NoError(t, err)
			return f
		}
		spend := func(day string, tokens int64, cost llm.Money) {
			require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
				_,
					err := tx.ExecContext(ctx,
					`INSERT INTO llm_spend (day, account_id, calls, tokens, cost) VALUES ($1, 'a', 1, $2, $3)`, day, tokens, cost)
				return err
			}))
		}
		require.Zero(t, forecast())
		spend("2026-03-10", 1, llm.Dollar)
		require.Zero(t, forecast(), "today is not over")
		spend("2026-03-07", 300, 3*llm.Dollar)
		require.Equal(t, llm.Forecast{Days: 3, Spent: llm.Spend{Calls: 1, Tokens: 300, Cost: 3 * llm.Dollar},
			Month: llm.Spend{Calls: 10, Tokens: 3000, Cost: 30 * llm.Dollar}}, forecast())
		spend("2026-02-01", 1000, 100*llm.Dollar)
		require.Equal(t, 7, forecast().Days, "days without calls count when there were calls before them")
	})
}

func TestNewMeteredNamesTheField(t *testing.T) {
	r := records(t, dbtest.SQLite(t))
	client := llmtest.Obedient{}
	for words, cfg := range map[string]llm.MeteredConfig{
		"MeteredConfig.Client":         {Records: r, Model: "x"},
		"MeteredConfig.Records":        {Client: client, Model: "x"},
		"MeteredConfig.Model is empty": {Client: client, Records: r},
		"MeteredConfig.Price is nil":   {Client: client, Records: r, Model: "x", TotalBudget: llm.Budget{Cost: 1}},
		"at least 0":                   {Client: client, Records: r, Model: "x", TotalBudget: llm.Budget{Tokens: -1}},
		"Price: Input":                 {Client: client, Records: r, Model: "x", Price: &llm.Price{Input: -1}},
	} {
		_, err := llm.NewMetered(cfg)
		require.ErrorContains(t, err, words)
	}
}
