package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/view"
)

func mailJSON(t *testing.T, args ...string) view.MailPage {
	t.Helper()
	r := postroomd(t, append([]string{"mail", "list", "--json"}, args...)...)
	require.Equal(t, 0, r.status, r.stderr)
	var page view.MailPage
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &page), r.stdout)
	return page
}

func idsOf(messages []view.Mail) []string {
	return printer.List(messages, func(m view.Mail) string { return m.ID })
}

func TestStoredMailIsListedPageByPage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := demoJSON(t, "--data", dir)
	all := mailJSON(t, "--data", dir, "--spam-trash", "--limit", "500")
	require.Empty(t, all.Next)
	require.Equal(t, s.Messages, len(all.Messages))

	var paged []view.Mail
	page := mailJSON(t, "--data", dir, "--spam-trash", "--limit", "7")
	for paged = page.Messages; page.Next != ""; paged = append(paged, page.Messages...) {
		require.Len(t, page.Messages, 7)
		require.Less(t, len(paged), len(all.Messages), "pages that begin anew have no end")
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

func TestMailSearchIsMailListWithASearch(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	for _, words := range [][]string{{"from:example.com"}, {"in:inbox", "OR", "is:unread"}, {"--", "-in:inbox"}} {
		list := postroomd(t, append([]string{"mail", "list", "--data", dir}, words...)...)
		search := postroomd(t, append([]string{"mail", "search", "--data", dir}, words...)...)
		require.Equal(t, 0, search.status, search.stderr)
		require.Equal(t, list, search)
	}
	for _, args := range [][]string{{}, {""}, {" ", " "}} {
		r := postroomd(t, append([]string{"mail", "search", "--data", dir}, args...)...)
		require.Equal(t, exitUsage, r.status)
		require.Contains(t, r.stderr, "mail search needs WORDS")
		require.Contains(t, r.stderr, "what to search for; 'postroomd mail list' lists all\n")
	}
	r := postroomd(t, "mail", "search", "--data", dir, "label:Nowhere", "OR", "in:inbox", "--limit", "2")
	require.Equal(t, 0, r.status)
	require.Contains(t, r.stderr, " has no label nowhere, as of the last sync of its labels\n")
	require.Equal(t, []string{"nowhere"}, mailJSON(t, "--data", dir, "label:Nowhere").UnknownLabels)

	page := mailJSON(t, "--data", dir, "in:inbox", "--limit", "1")
	r = postroomd(t, "mail", "search", "--data", dir, "is:unread", "--cursor", page.Next)
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "postroomd: --cursor "+page.Next+
		" is of no list of this search and mailbox; copy the one that the list before ended with")
	r = postroomd(t, "mail", "list", "--data", dir, "--cursor", "zzz")
	require.Equal(t, exitUsage, r.status)
	require.Contains(t, r.stderr, "postroomd: --cursor zzz is of no list")
	require.NotContains(t, r.stderr, "Search.")
}

func TestMistypedOperatorsAreNamed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	for _, command := range []string{"list", "search"} {
		r := postroomd(t, "mail", command, "--data", dir, "is:unred", "OR", "form:ann")
		require.Equal(t, 0, r.status, r.stderr)
		require.Equal(t, "is:unred: the operator does not know it; no message has it; did you mean is:unread?\n"+
			"form:ann: there is no such operator; it is searched for as words; did you mean from:ann?\n", r.stderr)
	}
	doubts := mailJSON(t, "--data", dir, "zzzzz:bar").Doubts
	require.Equal(t, []view.Doubt{{Term: "zzzzz:bar", Reason: "there is no such operator; it is searched for as words"}},
		doubts)
}

func TestAMistypedCommandIsNamedBeforeItsFlags(t *testing.T) {
	for says, args := range map[string][]string{
		`unknown command "demmo" for "postroomd"; did you mean demo?`:       {"demmo", "--data", "x", "--json"},
		`unknown command "lst" for "postroomd mail"; did you mean list`:     {"mail", "lst", "--data", "x"},
		`unknown command "mail-list" for "postroomd"; see postroomd --help`: {"mail-list", "--limit", "3"},
		`unknown flag: --limt`:    {"mail", "list", "--limt", "3"},
		`unknown flag: --nothing`: {"--nothing"},
	} {
		r := postroomd(t, args...)
		require.Equal(t, exitUsage, r.status, args)
		require.Contains(t, r.stderr, says)
	}
}

func TestStoredMailIsShownWithWhatWasDone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	var moved view.Mail
	for _, m := range mailJSON(t, "--data", dir, "--limit", "500").Messages {
		r := postroomd(t, "mail", "show", m.ID, "--data", dir)
		require.Equal(t, 0, r.status, r.stderr)
		require.Contains(t, r.stdout, printer.Printable(m.From.Email))
		if strings.Contains(r.stdout, "move ") && strings.Contains(r.stdout, "completed") {
			moved = m
		}
	}
	require.NotEmpty(t, moved.ID, "the sample's rules move mail")
	for _, id := range []string{moved.ID, moved.MessageID} {
		r := postroomd(t, "mail", "show", id, "--data", dir, "--json")
		require.Equal(t, 0, r.status, r.stderr)
		var v view.WholeMail
		require.NoError(t, json.Unmarshal([]byte(r.stdout), &v), r.stdout)
		require.Equal(t, moved, v.Mail)
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
