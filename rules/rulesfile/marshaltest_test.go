package rulesfile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// A message that is added as a test comes back as the rules see it.
func TestATestIsAdded(t *testing.T) {
	const text = "# mine\nrules:\n  - name: Tea\n    condition:\n      type: subject_contains\n      value: tea\n" +
		"    action: star\ntests:\n  # the first\n  - name: Old\n    message: { subject: tea }\n    rules: [Tea]\n"
	file, err := rulesfile.Parse("rules.yaml", strings.NewReader(text))
	require.NoError(t, err)
	at := time.Date(2026, 3, 1, 12, 30, 5, 0, time.UTC)
	m := &postroom.Message{
		From:    postroom.Address{Name: `Zoë "Z", of Tea: & co.`, Email: "zoe@example.org"},
		To:      []postroom.Address{{Email: "me@example.com"}, {Name: "You", Email: "you@example.com"}},
		Subject: "– {tea} for: 2 #1",
		Headers: []postroom.Header{{Name: "From", Value: "zoe"}, {Name: "List-Id", Value: "<tea.example.org>"},
			{Name: "X-A", Value: "1"}, {Name: "x-a", Value: "2:\n 3"}, {Name: "Content-Type", Value: "text/plain"}},
		LabelIDs: []string{"INBOX", "Tea & more"}, Size: 1234, ReceivedAt: at, BodyHTML: "<p>tea",
		BodyPlain:   "Hello,\n\n - tea: \"now\"\n",
		Attachments: []postroom.Attachment{{Filename: "a, b.pdf", ContentType: "application/pdf; x=y"}},
	}
	added := rulesfile.Test{Name: "Tea: – \"tea\"", Message: m, Now: at, SenderSeen: true, Authenticated: true,
		Past:  rules.Past{WrittenTo: true, Mine: at.Add(-time.Hour), Theirs: at.Add(time.Minute)},
		Rules: []string{}}
	revised, err := file.Revise(rulesfile.Revision{Tests: []rulesfile.Test{added}})
	require.NoError(t, err)
	require.Contains(t, revised.Source, "# the first")
	require.Len(t, revised.Tests, 2)
	got := revised.Tests[1]
	require.Equal(t, added.Name, got.Name)
	require.True(t, got.SenderSeen)
	require.Equal(t, added.Past.WrittenTo, got.Past.WrittenTo)
	require.True(t, added.Past.Mine.Equal(got.Past.Mine))
	require.True(t, added.Past.Theirs.Equal(got.Past.Theirs))
	require.Equal(t, []string{}, got.Rules, "no rule")
	require.True(t, at.Equal(got.Now))
	require.Equal(t, m.From, got.Message.From)
	require.Equal(t, m.To, got.Message.To)
	require.Equal(t, m.Subject, got.Message.Subject)
	require.Equal(t, m.LabelIDs, got.Message.LabelIDs)
	require.Equal(t, m.Size, got.Message.Size)
	require.Equal(t, m.BodyPlain, strings.ReplaceAll(got.Message.BodyPlain, "\r\n", "\n"))
	require.Equal(t, m.BodyHTML, got.Message.BodyHTML)
	require.Equal(t, "a, b.pdf", got.Message.Attachments[0].Filename)
	require.Equal(t, []string{"1", "2: 3"}, got.Message.Header("X-A"))
	require.Equal(t, []string{"<tea.example.org>"}, got.Message.Header("List-Id"))
	verified, err := rules.Compile(rules.Condition{Type: rules.Authenticated})
	require.NoError(t, err)
	require.True(t, verified.Match(got.Message, at))

	results := revised.Test(revised.Tests, nil)
	require.True(t, results[0].Passed())
	require.False(t, results[1].Passed())
	added.Rules, added.Without = nil, []string{"Coffee", "Tea"}
	without, err := revised.Revise(rulesfile.Revision{Tests: []rulesfile.Test{added}})
	require.NoError(t, err)
	require.Equal(t, added.Without, without.Tests[1].Without)
	result := without.Test(without.Tests, nil)[1]
	require.Equal(t, []string{"expected rules without 'Coffee', 'Tea', got 'Tea'"}, result.Failures)
	added.Without, added.Actions = nil, []rules.RuleAction{{Type: postroom.Star}}
	again, err := revised.Revise(rulesfile.Revision{Tests: []rulesfile.Test{added}})
	require.NoError(t, err)
	require.Len(t, again.Tests, 2, "one of the same name is replaced")
	require.True(t, again.Test(again.Tests, nil)[1].Passed())
}
