package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/queue/sqlite"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
)

func TestSorter(t *testing.T) {
	server := gmailtest.NewServer(t)
	account, err := server.Account(t.Context(), "ada@example.org")
	require.NoError(t, err)
	token, err := account.Grant(t.Context())
	require.NoError(t, err)
	for _, header := range []string{"List-Unsubscribe: <https://shop.example/leave>\r\n", ""} {
		_, err = account.Deliver(t.Context(),
			[]byte("From: shop@example.com\r\nSubject: News\r\n"+header+"\r\nHello.\r\n"))
		require.NoError(t, err)
	}
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "sorter.db"), nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	s, err := newSorter(t.Context(), db, server.URL(), token.AccessToken)
	require.NoError(t, err)
	list := []rules.Rule{rules.NewRule("Newsletters",
		rules.Condition{Type: rules.HeaderPresent, Header: "List-Unsubscribe"}, postroom.Archive, nil)}
	require.NoError(t, s.sort(t.Context(), "ada@example.org", list))
	done, err := s.ledger.Actions(t.Context(), safety.Filter{Limit: 10})
	require.NoError(t, err)
	require.Len(t, done, 2)
	states := map[postroom.ActionType]postroom.ActionState{}
	for _, e := range done {
		states[e.Action.Type] = e.Action.State
	}
	require.Equal(t, map[postroom.ActionType]postroom.ActionState{
		postroom.Archive: postroom.ActionCompleted, postroom.None: postroom.ActionCompleted}, states)
}
