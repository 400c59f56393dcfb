package main

import (
	"context"
	"errors"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/queue"
	"github.com/stretchr/testify/require"
)

// TestReadinessNamesEachMailboxThatFails, with its reason.
func TestReadinessNamesEachMailboxThatFails(t *testing.T) {
	server, err := gmailtest.Open(t.Context(), gmailtest.Config{Email: sample.Owner})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	cfg := config.Default()
	cfg.Gmail = config.Gmail{Address: sample.Owner, Token: "token", Endpoint: server.URL(), SpamAndTrash: true}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(file, []byte("rules: 7"), 0o600))
	cfg.Paths.Rules = config.Path(file)
	s := &environment.Environment{Folder: environment.Folder(t.TempDir()), Config: cfg}
	require.NoError(t, s.Prepare())
	h, err := newApp(t.Context(), appConfig{Environment: s})
	require.NoError(t, err)
	defer func() { require.NoError(t, h.close()) }()
	require.NoError(t, h.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := h.mail.EnsureAccount(ctx, tx, "ann@example.com")
		return err
	}))
	var ready readiness
	tender := newTender(h, &ready)
	require.NoError(t, tender.look(t.Context(), true))
	tender.setting.Wait()
	require.NoError(t, tender.look(t.Context(), false))
	why := h.notReady(t.Context(), &ready)
	require.Regexp(t, `(?m)^`+regexp.QuoteMeta(sample.Owner)+`: .*rules\.yaml:1:8: `, why)
	require.Regexp(t, `(?m)^ann@example\.com: no access here: `, why)
}

func TestReadinessIsReachedOnce(t *testing.T) {
	var r readiness
	require.Equal(t, "they are being looked for", r.missing()[0].what)
	r.fails(errors.New("no database"))
	require.Equal(t, "no database", r.missing()[0].what)
	r.fails(nil)
	r.awaits("two", " is being set up", "")
	r.awaits("one", " is being set up", "7")
	r.awaitsOnly([]string{"one", "two"})
	require.Equal(t, []awaited{{"one", " is being set up", "7"}, {"two", " is being set up", ""}}, r.missing())
	r.awaitsOnly([]string{"two"})
	require.Equal(t, []awaited{{"two", " is being set up", ""}}, r.missing())
	r.awaitsOnly(nil)
	require.Empty(t, r.missing())
	r.awaits("three", " is being set up", "")
	r.awaitsOnly([]string{"three"})
	r.fails(errors.New("no database"))
	require.Empty(t, r.missing(), "it goes on with what is set up")
	r.stops()
	require.Equal(t, "postroomd stops", r.missing()[0].what)
	r.awaitsOnly(nil)
	require.Equal(t, "postroomd stops", r.missing()[0].what)
}
