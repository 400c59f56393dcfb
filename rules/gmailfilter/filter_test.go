package gmailfilter_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/gmailfilter"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

func TestGmailsFiltersBecomeRules(t *testing.T) {
	data, err := os.ReadFile("testdata/mailFilters.xml")
	require.NoError(t, err)
	filters, err := gmailfilter.Read(strings.NewReader(string(data)), nil)
	require.NoError(t, err)
	require.Len(t, filters, 8)
	translation := gmailfilter.Import(filters, nil)
	text := string(translation.Marshal())
	rulestest.Golden(t, "testdata/rules.golden", text)
	rulestest.Golden(t, "testdata/untranslated.golden", rulestest.Listed(translation.Untranslated))
	require.Equal(t, text, rulestest.Formatted(t, text))
	file, err := rulesfile.Parse("rules.yaml", strings.NewReader(text))
	require.NoError(t, err)
	require.Empty(t, file.Warnings)

	set := rules.NewSet(file.Rules, nil)
	for want, msg := range map[string]postroom.Message{
		"move Shops/Old, mark_read":         {From: postroom.Address{Email: "x@mail.shop.example"}},
		"star, apply_label CATEGORY_FORUMS": {To: []postroom.Address{{Email: "Other@home.example"}}, Subject: "The Weekly -- Report", Attachments: []postroom.Attachment{{Filename: "x"}}, Size: 4 << 20},
		"none":                              {To: []postroom.Address{{Email: "Other@home.example"}}, Subject: "The Weekly Report: draft", Attachments: []postroom.Attachment{{Filename: "x"}}, Size: 4 << 20},
		"trash":                             {Headers: []postroom.Header{{Name: "List-Id", Value: "<dev.lists.example>"}}, LabelIDs: []string{"IMPORTANT"}, Size: 3 << 20, BodyPlain: "Your invoice.", Attachments: []postroom.Attachment{{Filename: "a.pdf"}}},
		"apply_label IMPORTANT":             {From: postroom.Address{Name: "Smith, Ann", Email: "x@x.example"}},
	} {
		var got []string
		for _, d := range set.DecideAll(&msg, rulestest.Now) {
			label, _ := d.Parameters.Text("label")
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s", d.Action, label)))
		}
		require.Equal(t, want, strings.Join(got, ", "))
	}
}

func TestRulesBecomeGmailsFilters(t *testing.T) {
	file, err := rulesfile.Parse("rules.yaml", strings.NewReader(`
labels: [A, B, Newsletters]
rules:
- {name: whole, condition: {type: sender_email, values: [ann@a.example, '*@b.example']}, actions: [{action: apply_label, parameters: {label: A}}, {action: move, parameters: {label: B}}]}
- {name: nested, stop: false, condition: {op: and, children: [{type: has_attachment}, {op: or, children: [{type: subject_contains, value: a b}, {op: not, children: [{type: larger_than, value: 5MB}]}]}]}, action: star}
- {name: scoped, scope: domain, scope_ref: c.example, condition: {type: address, fields: [recipients], part: domain, match: wildcard, values: [d.example, '*.d.example']}, actions: [{action: mark_read}, {action: snooze, parameters: {until: '2030-01-31T08:00:00Z'}}]}
- {name: regex, condition: {type: subject_regex, value: x}, action: star}
- {name: 'off', enabled: false, condition: {type: has_attachment}, action: star}
- {name: night, schedule: {times: ['22:00-06:00']}, condition: {type: has_attachment}, action: star}
- {name: proven, authentication: required, condition: {type: sender_email, value: a@a.example}, action: star}
- {name: quoted, condition: {type: subject_contains, value: 'say "x"'}, action: star}
- {name: nothing, condition: {type: list_id, value: dev.example}, action: mark_unread}
- {name: last, condition: {type: body_contains, value: 'x'}, actions: [{action: trash}, {action: remove_label, parameters: {label: IMPORTANT}}, {action: remove_label, parameters: {label: A}}]}
`))
	require.NoError(t, err)
	filters, untranslated := gmailfilter.Export(file.Rules, nil)
	var xml strings.Builder
	require.NoError(t, gmailfilter.Write(&xml, filters, time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC)))
	rulestest.Golden(t, "testdata/export.golden", xml.String()+"\n"+rulestest.Listed(untranslated))

	again, err := gmailfilter.Read(strings.NewReader(xml.String()), nil)
	require.NoError(t, err)
	require.Equal(t, filters, again)
	require.NotEmpty(t, gmailfilter.Import(again, nil).File.Rules)
}

// What waits here for a proof of the sender or for a person has no filter, unless that is asked for; and a filter
// spares the mail of the rules before it, whatever their place in the file.
func TestFiltersDoNoMoreThanTheRules(t *testing.T) {
	file, err := rulesfile.Parse("rules.yaml", strings.NewReader(`
rules:
- {name: implied, safe_mode: dangerous_override, stop: false, condition: {type: sender_email, value: a@a.example}, action: forward, parameters: {to: [x@x.example]}}
- {name: scoped, scope: domain, scope_ref: a.example, safe_mode: dangerous_override, stop: false, condition: {type: has_attachment}, action: forward, parameters: {to: [x@x.example]}}
- {name: trusting, authentication: not_required, safe_mode: dangerous_override, stop: false, condition: {type: sender_email, value: b@b.example}, action: forward, parameters: {to: [y@x.example]}}
- {name: anybody, safe_mode: dangerous_override, stop: false, condition: {type: has_attachment}, action: forward, parameters: {to: [z@x.example]}}
- {name: approved, stop: false, condition: {type: has_attachment}, actions: [{action: forward, parameters: {to: [w@x.example]}}, {action: star}]}
- {name: lists, stop: false, condition: {type: list_id, value: dev.example}, action: trash}
- {name: all lists, priority: 200, condition: {type: body_contains, value: unsubscribe}, actions: [{action: trash}, {action: star}]}
- {name: boss, priority: 150, condition: {type: sender_email, value: boss@a.example}, action: none}
- {name: off, enabled: false, priority: 150, condition: {type: subject_regex, value: x}, action: none}
- {name: read, priority: 160, condition: {type: sender_email, value: c@c.example}, action: mark_read}
- {name: few, stop: false, priority: 120, condition: {type: body_contains, value: few}, action: archive}
- {name: large, priority: 110, condition: {op: not, children: [{type: larger_than, value: 1KB}]}, action: none}
- {name: odd, priority: 300, condition: {type: subject_regex, value: x}, action: none}
- {name: late, priority: 400, condition: {type: sender_domain, value: d.example}, actions: [{action: trash}, {action: star}]}
`), rulesfile.WithKinds(rulestest.WithForward(t)))
	require.NoError(t, err)
	filters, untranslated := gmailfilter.Export(file.Rules, nil)
	found := map[string]string{}
	for _, f := range filters {
		found[f.Query] = strings.Join(append(f.AddLabels, f.Forward), " ")
	}
	require.Equal(t, map[string]string{
		`from:"b@b.example"`:    "y@x.example",
		"has:attachment":        "STARRED ",
		`list:"dev.example"`:    "TRASH ",
		`"few" -(-larger:1024)`: "",
		`from:"d.example"`:      "STARRED ",
		`(from:"c@c.example" -(-larger:1024)) -from:"boss@a.example"`:              "",
		`"unsubscribe" -(-larger:1024) -from:"boss@a.example" -from:"c@c.example"`: "TRASH STARRED ",
	}, found)
	list := rulestest.Listed(untranslated)
	require.Contains(t, list, "implied: left out: filters do not ask whether the sender is authenticated\n")
	require.Contains(t, list, "scoped: left out: filters do not ask whether the sender is authenticated\n")
	require.Contains(t, list, "approved: partly: forward: here a person approves it first, and Gmail asks nobody\n")
	require.Contains(t, list,
		`late: partly: it spares the mail of rules before it, and Gmail's search cannot say which that is: "odd"`)

	filters, untranslated = gmailfilter.Export(file.Rules, &gmailfilter.ExportOptions{Unguarded: true})
	list = rulestest.Listed(untranslated)
	require.Equal(t, "x@x.example", filters[0].Forward)
	require.Contains(t, list,
		"implied: nearly: filters do not ask whether the sender is authenticated: it applies to mail of anybody who writes its sender\n")
	require.Contains(t, list, "approved: partly: forward: here a person approves it first")
}

func TestFiltersOfTheAPI(t *testing.T) {
	name := func(id string) (string, bool) { return "Shops", id == "Label_7" }
	filters, err := gmailfilter.Read(strings.NewReader(`{"filter": [{"id": "x", "criteria": {"from": "a@a.example", "size": 5, "sizeComparison": "larger"},
		"action": {"addLabelIds": ["Label_7", "STARRED"], "removeLabelIds": ["INBOX"], "forward": "f@f.example"}}]}`), name)
	require.NoError(t, err)
	require.Equal(t, []gmailfilter.Filter{{From: "a@a.example", Size: 5, SizeComparison: "larger",
		AddLabels: []string{"Shops", "STARRED"}, RemoveLabels: []string{"INBOX"}, Forward: "f@f.example"}}, filters)

	for text, want := range map[string]string{
		`{"filter": [{"action": {"addLabelIds": ["Label_8"]}}]}`: `no label with the id "Label_8"`,
		`{}`:       "users.settings.filters.list",
		`{"filter`: "unexpected end",
		`hello`:    "neither an export",
		`<feed><entry xmlns:apps="http://schemas.google.com/apps/2006"><apps:property name="shouldDance" value="true"/></entry></feed>`: "shouldDance",
		`<feed><entry xmlns:apps="http://schemas.google.com/apps/2006"><apps:property name="size" value="big"/></entry></feed>`:         `"big"`,
	} {
		_, err := gmailfilter.Read(strings.NewReader(text), name)
		require.ErrorContains(t, err, want)
	}
}

func FuzzReadGmailFilters(f *testing.F) {
	data, err := os.ReadFile("testdata/mailFilters.xml")
	require.NoError(f, err)
	f.Add(string(data))
	f.Add(`{"filter": [{"criteria": {"query": "a OR -b {c d} from:x"}, "action": {"addLabelIds": ["STARRED"]}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		filters, err := gmailfilter.Read(strings.NewReader(text), func(id string) (string, bool) { return id, true })
		if err != nil {
			return
		}
		translation := gmailfilter.Import(filters, nil)
		for _, r := range translation.File.Rules {
			require.NoError(t, r.Validate(nil))
		}
		_, err = rulesfile.Format("rules.yaml", translation.Marshal())
		require.NoError(t, err)
	})
}

// In a field of addresses "me" is the owner. A filter that does not say who that is, is left out: read as a word, the
// filter that trashes what is not to its owner would trash everything.
func TestMeIsNoWord(t *testing.T) {
	trash := []string{postroom.LabelTrash}
	for _, f := range []gmailfilter.Filter{
		{To: "me", AddLabels: trash}, {From: "Me", AddLabels: trash}, {Query: "-to:me", AddLabels: trash},
		{Query: "-{to:me cc:me}", AddLabels: trash}, {NegatedQuery: "to:me", AddLabels: trash},
		{Query: "bcc:(me) x", AddLabels: trash}, {Query: "-deliveredto:me", AddLabels: trash},
		{Query: "from:(ann or me)", AddLabels: trash}, {To: "{me ann}", AddLabels: trash},
	} {
		got := gmailfilter.Import([]gmailfilter.Filter{f}, nil)
		require.Empty(t, got.File.Rules, "%+v", f)
		require.Len(t, got.Untranslated, 1)
		require.Equal(t, rulesfile.Skipped, got.Untranslated[0].Left)
		require.Contains(t, got.Untranslated[0].What, "the address of the account")
	}
	words := []gmailfilter.Filter{{Subject: "me", AddLabels: trash}, {Query: "about me", AddLabels: trash}}
	require.Len(t, gmailfilter.Import(words, nil).File.Rules, 2, "elsewhere it is a word")
}
