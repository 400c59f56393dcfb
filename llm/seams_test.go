package llm_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/llmtest"
)

// silent answers nothing and fails with nothing, which no client may.
type silent struct{}

func (silent) Complete(context.Context, *llm.Request) (*llm.Response, error) { return nil, nil }

// around are the clients that stand around another.
func around(t *testing.T, client llm.Client) map[string]llm.Client {
	t.Helper()
	retrying, err := llm.NewRetrying(llm.RetryingConfig{Client: client, Attempts: 1})
	require.NoError(t, err)
	limited, err := llm.NewLimited(llm.LimitedConfig{Client: client, Concurrent: 1})
	require.NoError(t, err)
	fallback, err := llm.NewFallback(client)
	require.NoError(t, err)
	return map[string]llm.Client{
		"retrying": retrying, "limited": limited, "fallback": fallback,
		"metered": metered(t, llm.MeteredConfig{Client: client, Records: records(t, dbtest.SQLite(t))}),
	}
}

func TestNoRequestIsAnError(t *testing.T) {
	for name, client := range around(t, llmtest.NewScripted(t)) {
		t.Run(name, func(t *testing.T) {
			_, err := client.Complete(t.Context(), nil)
			require.ErrorIs(t, err, llm.ErrBadRequest)
			require.ErrorContains(t, err, "the request is nil")
		})
	}
}

func TestAClientThatReturnsNothingIsAnError(t *testing.T) {
	for name, client := range around(t, silent{}) {
		t.Run(name, func(t *testing.T) {
			_, err := client.Complete(t.Context(), asks("a", "1"))
			require.ErrorIs(t, err, llm.ErrUnavailable)
		})
	}
}

func TestACallerThatHasGoneCallsNobody(t *testing.T) {
	gone, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the mailbox was removed")
	cancel(why)
	for name, client := range around(t, llmtest.NewScripted(t)) {
		t.Run(name, func(t *testing.T) {
			_, err := client.Complete(gone, asks("a", "1"))
			require.Error(t, err)
			require.True(t, errors.Is(err, context.Canceled) || errors.Is(err, why), "%v", err)
		})
	}
}

func TestRecordsOfAClosedDatabaseAreErrors(t *testing.T) {
	db := dbtest.SQLite(t)
	r := records(t, db)
	m := metered(t, llm.MeteredConfig{Records: r, Client: llmtest.NewScripted(t)})
	require.NoError(t, db.Close())
	_, err := m.Complete(t.Context(), asks("a", "1"))
	require.Error(t, err)
	_, err = r.Outages(t.Context(), time.Now())
	require.Error(t, err)
	_, err = r.Forecast(t.Context(), "a", time.Now())
	require.Error(t, err)
	_, err = r.Prune(t.Context(), time.Now())
	require.Error(t, err)
}
