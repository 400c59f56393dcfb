package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/mcp"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m, app.Migrate) }

// A world is a mailbox with postroomd and an assistant.
type world struct {
	*testing.T
	gmail *gmailtest.Server
	app   *app.App
	*sdk.ClientSession
}

func newWorld(t *testing.T, caller mcp.Caller, mails ...string) *world {
	t.Helper()
	return newWorldOn(t, "", caller, mails...)
}

// newWorldOn makes a world on a PostgreSQL database; empty: on SQLite.
func newWorldOn(t *testing.T, database string, caller mcp.Caller, mails ...string) *world {
	t.Helper()
	server, err := gmailtest.Open(t.Context(), gmailtest.Config{Email: sample.Owner})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	cfg := config.Default()
	cfg.Gmail = config.Gmail{Address: sample.Owner, Token: "token", Endpoint: server.URL(), SpamAndTrash: true,
		OldMail: config.SortOldMail}
	cfg.Paths.Database = config.Database(database)
	env := &environment.Environment{Folder: environment.Folder(t.TempDir()), Config: cfg}
	require.NoError(t, env.Prepare())
	if !cfg.Paths.Database.Postgres() {
		dbtest.MigratedFile(t, env.Database())
	}
	a, err := app.New(t.Context(), app.Config{Environment: env})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	for _, raw := range mails {
		_, err := server.Deliver(t.Context(), []byte(strings.ReplaceAll(raw, "\n", "\r\n")))
		require.NoError(t, err)
	}
	w := &world{T: t, gmail: server, app: a}
	w.work()
	w.ClientSession = w.connect(caller)
	return w
}

// writes sends a message of the user, with more fields in its header.
func (w *world) writes(to, fields string) {
	w.Helper()
	account, err := w.app.Mail.AccountByEmail(w.Context(), sample.Owner)
	require.NoError(w, err)
	client, err := w.app.Clients.Client(w.Context(), account.ID)
	require.NoError(w, err)
	_, err = client.Send(w.Context(), []byte("From: "+sample.Owner+"\r\nTo: "+to+"\r\nSubject: Re: x\r\n"+fields+
		"\r\nYes.\r\n"), "")
	require.NoError(w, err)
	w.work()
}

// work takes in the mail, and carries out what is to be done.
func (w *world) work() {
	w.Helper()
	_, err := w.app.Worked(w.Context())
	require.NoError(w, err)
	faults, err := w.app.RunUntilIdle(w.Context())
	require.NoError(w, err)
	require.Empty(w, faults)
}

func (w *world) connect(caller mcp.Caller) *sdk.ClientSession {
	w.Helper()
	mine, theirs := sdk.NewInMemoryTransports()
	served, err := mcp.NewServer(w.app, caller).Connect(w.Context(), theirs, nil)
	require.NoError(w, err)
	client := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil)
	session, err := client.Connect(w.Context(), mine, nil)
	require.NoError(w, err)
	w.Cleanup(func() { _, _ = session.Close(), served.Wait() })
	return session
}

// call calls a tool; the answer is read into out, or its error is returned.
func (w *world) call(tool string, in, out any) error {
	w.Helper()
	r, err := w.CallTool(w.Context(), &sdk.CallToolParams{Name: tool, Arguments: in})
	require.NoError(w, err)
	text := r.Content[0].(*sdk.TextContent).Text
	require.NotContains(w, text, "](", tool)
	require.NotRegexp(w, `<[A-Za-z/!]`, text, tool)
	if r.IsError {
		return fmt.Errorf("%s", text)
	}
	return json.Unmarshal([]byte(text), out)
}

type args = map[string]any

type hits struct {
	Messages []mcp.Message
	Next     string
}

type proposals struct {
	Proposals []struct {
		Message, State, Why string
		ActionID            string `json:"action_id"`
	}
}

// find returns the ids of the messages that a search finds.
func (w *world) find(query string) (ids []string) {
	w.Helper()
	var found hits
	require.NoError(w, w.call("mail_search", args{"query": query}, &found))
	for _, m := range found.Messages {
		ids = append(ids, m.ID)
	}
	return ids
}

// mail makes a message; verified adds the result that Gmail adds when DMARC has passed.
func mail(from, subject, text string, verified bool) string {
	auth := ""
	if verified {
		auth = "Received: from mail.example.com by mx.google.com with ESMTPS id x; " + time.Now().Format(time.RFC1123Z) +
			"\nAuthentication-Results: mx.google.com; dmarc=pass header.from=" + from[strings.IndexByte(from, '@')+1:] + "\n"
	}
	return auth + "From: " + from + "\nTo: " + sample.Owner + "\nSubject: " + subject +
		"\nDate: " + time.Now().Format(time.RFC1123Z) + "\nMessage-ID: <" + subject + "@example.com>\n\n" + text + "\n"
}
