package app

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// openTestApp opens an App with a Gmail of its own, and with a file of these rules, if there are any.
func openTestApp(t *testing.T, rules string) *App {
	t.Helper()
	server, err := gmailtest.Open(t.Context(), gmailtest.Config{Email: sample.Owner})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	cfg := config.Default()
	cfg.Gmail = config.Gmail{Address: sample.Owner, Token: "token", Endpoint: server.URL(), SpamAndTrash: true}
	if rules != "" {
		file := filepath.Join(t.TempDir(), "rules.yaml")
		require.NoError(t, os.WriteFile(file, []byte(rules), 0o600))
		cfg.Paths.Rules = config.Path(file)
	}
	env := &environment.Environment{Folder: environment.Folder(t.TempDir()), Config: cfg}
	require.NoError(t, env.Prepare())
	a, err := New(t.Context(), Config{Environment: env})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	return a
}

// A job that has asked the gate just before it opened, and is queued again just after, is not for a later run.
func TestAJobIsGivenBackAsTheGateOpens(t *testing.T) {
	h := openTestApp(t, "")
	h.holdUntilRules()
	var id string
	err := h.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		id, err = h.Mail.EnsureAccount(ctx, tx, sample.Owner)
		return err
	})
	require.NoError(t, err)
	job, err := h.Queue.Enqueue(t.Context(), rules.JobClassify.New(rules.ClassifyPayload{AccountID: id, MessageID: "m"}, nil))
	require.NoError(t, err)
	claimed, err := h.Queue.Claim(t.Context(), "here", []string{string(rules.JobClassify)}, 1)
	require.NoError(t, err)
	verdict := h.HoldDecisions(nil)(t.Context(), claimed[0])
	require.NoError(t, h.LetDecide(t.Context(), id))
	require.NoError(t, claimed[0].Fail(t.Context(), verdict))
	later, err := h.OnlyLater(t.Context(), []string{string(rules.JobClassify)})
	require.NoError(t, err)
	require.False(t, later)
	supervisor := NewSupervisor(h, new(Readiness))
	supervisor.Tended[id] = supervised{Step: StepDone}
	require.NoError(t, supervisor.Sweep(t.Context()))
	due, err := h.Queue.Job(t.Context(), job.ID)
	require.NoError(t, err)
	require.False(t, due.NotBefore.After(time.Now()))
}
