package mime_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/mime"
)

var update = flag.Bool("update", false, "write the golden files in testdata anew")

// A summary is what a golden file says about a message.
type summary struct {
	Subject     string       `json:"subject"`
	From        string       `json:"from,omitempty"`
	ReplyTo     string       `json:"reply_to,omitempty"`
	To          string       `json:"to,omitempty"`
	Cc          string       `json:"cc,omitempty"`
	Date        string       `json:"date,omitempty"`
	MessageID   string       `json:"message_id,omitempty"`
	InReplyTo   string       `json:"in_reply_to,omitempty"`
	References  []string     `json:"references,omitempty"`
	Text        string       `json:"text,omitempty"`
	HTML        string       `json:"html,omitempty"`
	Attachments []attachment `json:"attachments,omitempty"`
	Defects     []string     `json:"defects,omitempty"`
}

type attachment struct {
	Path        string   `json:"path"`
	ContentType string   `json:"content_type"`
	Disposition string   `json:"disposition,omitempty"`
	Filename    string   `json:"filename,omitempty"`
	ContentID   string   `json:"content_id,omitempty"`
	Content     string   `json:"content,omitempty"`
	Message     *summary `json:"message,omitempty"`
}

func summarize(m *mime.Message) *summary {
	s := &summary{
		Subject: m.Subject, From: joined(m.From), ReplyTo: joined(m.ReplyTo), To: joined(m.To), Cc: joined(m.Cc),
		MessageID: m.MessageID, InReplyTo: m.InReplyTo, References: m.References, Text: m.Text, HTML: m.HTML,
	}
	if !m.Date.IsZero() {
		s.Date = m.Date.Format(time.RFC3339)
	}
	for _, p := range m.Attachments {
		a := attachment{
			Path: p.Path, ContentType: p.ContentType, Disposition: p.Disposition, Filename: p.Filename, ContentID: p.ContentID,
		}
		if p.Message != nil {
			a.Message = summarize(p.Message)
		} else {
			a.Content = string(p.Content)
		}
		s.Attachments = append(s.Attachments, a)
	}
	for _, d := range m.Defects {
		s.Defects = append(s.Defects, d.String())
	}
	return s
}

func joined(addresses []mime.Address) string {
	var out []string
	for _, a := range addresses {
		out = append(out, a.Name+" <"+a.Email+">")
	}
	return strings.Join(out, ", ")
}

// requireGolden compares with a file, or writes it when the tests run with -update.
func requireGolden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the tests with -update to write the file, then read it")
	require.Equal(t, string(want), string(got))
}

func TestParseSamples(t *testing.T) {
	files, err := filepath.Glob("testdata/parse/*.eml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".eml")
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			m, err := mime.ParseBytes(raw, nil)
			require.NoError(t, err)
			requireSound(t, m)
			var got strings.Builder
			encoder := json.NewEncoder(&got)
			encoder.SetEscapeHTML(false)
			encoder.SetIndent("", "  ")
			require.NoError(t, encoder.Encode(summarize(m)))
			requireGolden(t, strings.TrimSuffix(file, ".eml")+".json", []byte(got.String()))
		})
	}
}

// Every tolerance names the sample that needs it.
func TestQuirksHaveSamples(t *testing.T) {
	sources, err := filepath.Glob("*.go")
	require.NoError(t, err)
	quirk := regexp.MustCompile(`QUIRK:(?:[^\n]*\n\s*//)*?[^\n]*?Samples?:([a-z0-9, -]|\n\s*//)*[a-z0-9]\.`)
	var named []string
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") || source == "doc.go" {
			continue
		}
		code, err := os.ReadFile(source)
		require.NoError(t, err)
		found := quirk.FindAllString(string(code), -1)
		require.Len(t, found, strings.Count(string(code), "QUIRK:"), "%s: each QUIRK ends with Sample: name.", source)
		for _, comment := range found {
			_, names, _ := strings.Cut(comment[strings.LastIndex(comment, "Sample"):], ":")
			names = strings.NewReplacer("//", "", "\n", "", "\t", "", " ", "", ".", "").Replace(names)
			named = append(named, strings.Split(names, ",")...)
		}
	}
	require.NotEmpty(t, named)
	for _, name := range named {
		found, err := filepath.Glob(filepath.Join("testdata", "*", name+".*"))
		require.NoError(t, err)
		require.NotEmpty(t, found, name)
	}
	slices.Sort(named)
	require.Equal(t, named, slices.Compact(slices.Clone(named)), "a sample serves one QUIRK")
}
