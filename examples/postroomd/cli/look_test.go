package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/firstlook"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
)

// A mailbox is looked at: what is suggested is a file of rules that the program itself accepts.
func TestAMailboxIsLookedAt(t *testing.T) {
	var letters []string
	for n := range 6 {
		letters = append(letters, fmt.Sprintf("From: ann@list.example\r\nTo: %s\r\nSubject: Leaf %d\r\n"+
			"List-Id: <leaves.list.example>\r\n\r\nHello.\r\n", sample.Owner, n))
	}
	m := newTeatime(t, "{action: star}", "", letters...)
	runOnce(t, m.where...)
	look := func(flags ...string) result {
		return m.postroomd(append([]string{"accounts", "look", sample.Owner}, flags...)...)
	}
	r := look("--last")
	require.Equal(t, exitFailed, r.status)
	require.Contains(t, r.stderr, "nobody has looked at")
	require.Contains(t, look().stdout, "the job is enqueued")
	runOnce(t, m.where...)
	r = look("--last", "--json")
	require.Equal(t, 0, r.status, r.stderr)
	var v firstlook.Report
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &v))
	require.Equal(t, 6, v.Messages)
	require.Len(t, v.Rules, 1)
	require.Equal(t, "Lists/leaves", v.Rules[0].Label)
	require.Equal(t, sample.Owner, v.Mailbox)
	require.Contains(t, look("--last").stdout, "leaves.list.example: label Lists/leaves")

	r = look("--last", "--rules")
	require.Equal(t, v.YAML, r.stdout)
	file := filepath.Join(t.TempDir(), "suggested.yaml")
	require.NoError(t, os.WriteFile(file, []byte(r.stdout), 0o600))
	r = postroomd(t, "rules", "check", file)
	require.Equal(t, 0, r.status, r.stderr)
}
