package notes_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/notes"
	"github.com/postroom-go/postroom/internal/dbtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestGoldenNotes(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	for name, test := range map[string]struct {
		change  func(*notes.Config)
		message *postroom.Message
		texts   []string
	}{
		"plain":     {nil, cake(), []string{"Bring plates"}},
		"two-texts": {nil, cake(), []string{"Bring plates\n\n- for two\n- and Ben", "1. forks\n2. knives"}},
		"mail-text": {func(c *notes.Config) { c.Text, c.Zone = true, berlin }, &postroom.Message{
			Subject: "Rechnung 4711: bitte zahlen", From: postroom.Address{Name: "Müller & Söhne", Email: "info@müller.example"},
			To: []postroom.Address{{Email: owner}, {Name: "Ben", Email: "ben@example.com"}, {Email: owner}},
			Cc: []postroom.Address{{Email: "kasse@example.com"}},
			Attachments: []postroom.Attachment{{Filename: "Rechnung [4711].pdf", Inline: true},
				{Filename: "logo.png", Inline: true, Kind: "picture"}},
			BodyPlain: "Guten Tag,\n\n    bitte zahlen Sie 50 $ bis *Freitag*.\n\n> alt\n\nhttps://example.com/pay",
			MessageID: "4711@müller.example"}, []string{"invoice"}},
		"kept-files": {func(c *notes.Config) {
			c.Path = "{{domain}}/{{date}} {{sender_name}}"
			c.Files = func(context.Context, *postroom.Message) ([]notes.File, error) {
				return []notes.File{{Name: "plan.pdf", Content: []byte("%PDF")}}, nil
			}
		}, &postroom.Message{Subject: "The plan", From: postroom.Address{Name: "Ben: Builder", Email: "ben@example.com"},
			Attachments: []postroom.Attachment{{Filename: "plan.pdf"}}}, []string{"look at it"}},
		"hostile": {func(c *notes.Config) { c.Text = true }, &postroom.Message{
			Subject: "\"\n---\ntags: [owned]\n# x <img src=x onerror=alert(1)> [[.obsidian/app|click]] " +
				"![](http://evil.example/p.png)",
			From: postroom.Address{Name: "<% tp.system.prompt() %> `= this.file` \u202egnp.exe",
				Email: "a#b|c]]@evil.example"},
			ProviderID: "1) [x](http://evil.example", MessageID: "]] <script>", BodyPlain: "```dataviewjs\ndv.view('x')\n```\n" +
				"- [ ] pay #task\nkey:: value [k:: v]\n%% hidden %%\n<iframe src=\"http://evil.example\"></iframe>\n===\n" +
				"$$x$$ ==y== ^block\n" +
				"www.evil.example javascript:alert(1) obsidian://open?vault=x"},
			[]string{"{{date}} [link](http://evil.example)\n---\n---\ntitle: owned\n> [!danger] x"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, dbtest.SQLite(t), test.change)
			test.message.ID, test.message.ThreadID = "01a2027b-5b05-759a-948b-000000000001", "t"
			m := d.add(test.message)
			var path string
			for i, text := range test.texts {
				path = d.note(string(rune('1'+i)), m, text)
			}
			got := path + "\n" + d.read(path)
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
			requireHarmless(t, d.read(path))
		})
	}
}

// frontMatter reads the front matter of a note, and returns the rest.
func frontMatter(t testing.TB, note string) (front map[string]any, body string) {
	t.Helper()
	rest, ok := strings.CutPrefix(note, "---\n")
	require.True(t, ok, note)
	front = map[string]any{}
	text, body, ok := strings.Cut(rest, "\n---\n")
	require.True(t, ok, note)
	require.NoError(t, yaml.Unmarshal([]byte(text), &front), note)
	return front, body
}
