package enrich_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/readmail"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/mime"
)

// A label is what a judge says of a message.
type label struct {
	ID         string
	Category   string
	Importance string
}

// A judged message is one of the 300 that two judges have labelled, the second without the labels of the first.
type judged struct {
	msg  *postroom.Message
	a, b label
}

// of returns a judge's label for a stage.
func (l label) of(s enrich.Stage) string {
	if s == enrich.StageCategory {
		return l.Category
	}
	return l.Importance
}

// A judge is whose label an answer is held against.
type judge int

const (
	byEither judge = iota
	byA
	byB
)

// right reports whether an answer equals the label of a judge, or that of one of them.
func (j *judged) right(by judge, s enrich.Stage, answer string) bool {
	return by != byB && answer == j.a.of(s) || by != byA && answer == j.b.of(s)
}

const labelledFolder = "testdata/labelled/"

// labelledMail returns the labelled messages, the oldest first, and the addresses to which the owner has written.
func labelledMail(t testing.TB) (list []judged, known map[string]bool) {
	t.Helper()
	a, b := labels(t, "a.jsonl"), labels(t, "b.jsonl")
	made, known := madeMail(t)
	for _, msg := range append(ordinarySample(t), made...) {
		require.NotEmpty(t, a[msg.ID].ID, "%s has no label", msg.ID)
		list = append(list, judged{msg, a[msg.ID], b[msg.ID]})
	}
	require.Len(t, a, len(list), "a label is of no message")
	slices.SortStableFunc(list, func(a, b judged) int { return a.msg.ReceivedAt.Compare(b.msg.ReceivedAt) })
	return list, known
}

// labels reads the labels of a judge, which are of the owner's lists.
func labels(t testing.TB, file string) map[string]label {
	t.Helper()
	content, err := os.ReadFile(labelledFolder + file)
	require.NoError(t, err)
	found := map[string]label{}
	for line := range bytes.Lines(content) {
		var l label
		require.NoError(t, json.Unmarshal(line, &l), "%s: %s", file, line)
		require.NotContains(t, found, l.ID, file)
		require.Contains(t, categoryNames(), l.Category, "%s: %s", file, line)
		require.Contains(t, levelNames(), l.Importance, "%s: %s", file, line)
		found[l.ID] = l
	}
	return found
}

func categoryNames() (names []string) {
	for _, c := range enrich.DefaultCategories() {
		names = append(names, c.Name)
	}
	return names
}

func levelNames() (names []string) {
	for _, l := range enrich.DefaultLevels() {
		names = append(names, l.Name)
	}
	return names
}

// ordinarySample is the mail of the sample mailbox that is not there to be odd, with the letters of its lists.
func ordinarySample(t testing.TB) (list []*postroom.Message) {
	t.Helper()
	for _, m := range sampleMail(t, sample.WithLists()) {
		if kind, _, _ := strings.Cut(m.name, "-"); !odd[kind] {
			m.msg.ID = "sample/" + strings.TrimSuffix(m.name, ".eml")
			list = append(list, m.msg)
		}
	}
	return list
}

// headLine begins a message in mail.txt: its id, when it was received, its labels, and what else is known.
var headLine = regexp.MustCompile(`(?m)^-- (m\d+) (\S+) (\S+)((?: auth=\w+| written-to)*) --\n`)

// madeMail reads the messages that were written for this, and the addresses to which the owner has written before.
func madeMail(t testing.TB) (list []*postroom.Message, known map[string]bool) {
	t.Helper()
	content, err := os.ReadFile(labelledFolder + "mail.txt")
	require.NoError(t, err)
	// The product knows the providers of private addresses by their names, and the file has only reserved ones.
	text := strings.ReplaceAll(string(content), "@freemail.test", "@gmail.com")
	heads := headLine.FindAllStringSubmatchIndex(text, -1)
	require.Equal(t, strings.Count("\n"+text, "\n-- "), len(heads), "a head is misspelt")
	known = map[string]bool{}
	for i, h := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		received, err := time.Parse("2006-01-02T15:04Z", text[h[4]:h[5]])
		require.NoError(t, err)
		flags := strings.Fields(text[h[8]:h[9]])
		msg := made(t, text[h[2]:h[3]], text[h[1]:end], received, flags)
		msg.LabelIDs = strings.Split(text[h[6]:h[7]], ",")
		if slices.Contains(flags, "written-to") {
			known[msg.From.Email] = true
		}
		list = append(list, msg)
	}
	return list, known
}

// made returns a message as Gmail has received it: with its word on who sent it, and with the files that it names.
func made(t testing.TB, id, text string, received time.Time, flags []string) *postroom.Message {
	t.Helper()
	head, body, ok := strings.Cut(text, "\n\n")
	require.True(t, ok, id)
	var fields, files []string
	from := ""
	for line := range strings.Lines(head + "\n") {
		line = strings.TrimSpace(line)
		if file, ok := strings.CutPrefix(line, "Attach: "); ok {
			files = append(files, file)
			continue
		}
		if sender, ok := strings.CutPrefix(line, "From: "); ok {
			from = strings.TrimSuffix(sender[strings.LastIndexByte(sender, '@')+1:], ">")
		}
		fields = append(fields, line)
	}
	verdict := "dkim=pass header.i=@" + from + "; dmarc=pass header.from=" + from
	switch {
	case slices.Contains(flags, "auth=fail"):
		verdict = "spf=fail smtp.mailfrom=" + from + "; dmarc=fail header.from=" + from
	case slices.Contains(flags, "auth=none"):
		verdict = "spf=none smtp.mailfrom=" + from
	}
	date := received.Format(time.RFC1123Z)
	fields = append([]string{"Received: from mail." + from + " by mx.google.com with ESMTPS id x; " + date,
		"Authentication-Results: mx.google.com; " + verdict}, fields...)
	fields = append(fields, "Date: "+date, "Message-ID: <"+id+"@"+from+">", "MIME-Version: 1.0")
	raw := strings.Join(fields, "\n") + "\n" + content(body, files)
	parsed, err := mime.ParseBytes([]byte(strings.ReplaceAll(raw, "\n", "\r\n")), nil)
	require.NoError(t, err, id)
	msg := readmail.Message(parsed)
	msg.ID, msg.ThreadID, msg.AccountID, msg.ReceivedAt = id, id, account, received
	require.Len(t, msg.Attachments, len(files), id)
	require.NotEmpty(t, msg.Subject, id)
	return msg
}

// content returns the content of a message, and its type.
func content(text string, files []string) string {
	plain := "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n" +
		strings.TrimSpace(text) + "\n"
	if len(files) == 0 {
		return plain
	}
	var b strings.Builder
	b.WriteString("Content-Type: multipart/mixed; boundary=part\n\n--part\n" + plain)
	for _, file := range files {
		mediaType, name, _ := strings.Cut(file, " ")
		fmt.Fprintf(&b, "--part\nContent-Type: %s\nContent-Disposition: attachment; filename=%q\n\nfile\n", mediaType, name)
	}
	b.WriteString("--part--\n")
	return b.String()
}

// labelledWorld is a world whose owner has the labelled mail.
func labelledWorld(t testing.TB, known map[string]bool, first func(context.Context, *postroom.Message) (enrich.Facts,
	error)) *world {
	return sqliteWorld(t, func(c *enrich.Config) {
		c.Model, c.First = &model{}, first
		c.Owner = func(context.Context, string) (string, error) { return sample.Owner, nil }
		c.WrittenTo = func(_ context.Context, _, email string) (bool, error) { return known[email], nil }
	})
}

// The domains of the messages that were written for this are reserved ones.
func TestTheLabelledMailIsInvented(t *testing.T) {
	content, err := os.ReadFile(labelledFolder + "mail.txt")
	require.NoError(t, err)
	domain := regexp.MustCompile(`(?:@|//)([\w-]+(?:\.[\w-]+)+)`)
	found := domain.FindAllSubmatch(content, -1)
	require.NotEmpty(t, found)
	for _, f := range found {
		require.Regexp(t, `(^|\.)(example(\.(com|org|net))?|test)$`, string(f[1]))
	}
}
