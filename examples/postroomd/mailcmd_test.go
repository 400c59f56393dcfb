package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func mailJSON(t *testing.T, args ...string) mailPage {
	t.Helper()
	r := postroomd(t, append([]string{"mail", "list", "--json"}, args...)...)
	require.Equal(t, 0, r.status, r.stderr)
	var page mailPage
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &page), r.stdout)
	return page
}

func idsOf(messages []mailView) []string {
	return listed(messages, func(m mailView) string { return m.ID })
}

func TestStoredMailIsListedPageByPage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := demoJSON(t, "--data", dir)
	all := mailJSON(t, "--data", dir, "--spam-trash", "--limit", "500")
	require.Empty(t, all.Next)
	require.Equal(t, s.Messages, len(all.Messages))

	var paged []mailView
	page := mailJSON(t, "--data", dir, "--spam-trash", "--limit", "7")
	for paged = page.Messages; page.Next != ""; paged = append(paged, page.Messages...) {
		require.Len(t, page.Messages, 7)
		page = mailJSON(t, "--data", dir, "--spam-trash", "--limit", "7", "--cursor", page.Next)
	}
	require.Equal(t, idsOf(all.Messages), idsOf(paged))

	one := all.Messages[0]
	found := mailJSON(t, "--data", dir, "--spam-trash", "from:"+one.From.Email)
	require.Contains(t, idsOf(found.Messages), one.ID)
	for _, m := range found.Messages {
		require.Equal(t, one.From.Email, m.From.Email)
	}
	r := postroomd(t, "mail", "list", "--data", dir, "--limit", "1")
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "there is more: add --cursor ")
	r = postroomd(t, "mail", "list", "--data", dir, "from:nobody@nowhere.example")
	require.Equal(t, "no mail\n", r.stdout)
}

func TestStoredMailIsShownWithWhatWasDone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	var moved mailView
	for _, m := range mailJSON(t, "--data", dir, "--limit", "500").Messages {
		r := postroomd(t, "mail", "show", m.ID, "--data", dir)
		require.Equal(t, 0, r.status, r.stderr)
		require.Contains(t, r.stdout, printable(m.From.Email))
		if strings.Contains(r.stdout, "move ") && strings.Contains(r.stdout, "completed") {
			moved = m
		}
	}
	require.NotEmpty(t, moved.ID, "the sample's rules move mail")
	for _, id := range []string{moved.ID, moved.MessageID} {
		r := postroomd(t, "mail", "show", id, "--data", dir, "--json")
		require.Equal(t, 0, r.status, r.stderr)
		var v wholeMailView
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &v), r.stdout)
		require.Equal(t, moved, v.mailView)
		require.NotEmpty(t, v.Text)
		require.NotEmpty(t, v.Actions)
	}
	for says, args := range map[string][]string{
		"no message 18c2f":          {"mail", "show", "18c2f"},
		"no mailbox bob@nowhere.de": {"mail", "list", "--mailbox", "bob@nowhere.de"},
		"--limit is 0":              {"mail", "list", "--limit", "0"},
	} {
		r := postroomd(t, append(args, "--data", dir)...)
		require.Equal(t, exitUsage, r.status, says)
		require.Contains(t, r.stderr, says)
	}
}
