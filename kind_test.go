package postroom_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
)

var decidedAt = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func kinds(t *testing.T, cfg postroom.KindsConfig) *postroom.Kinds {
	t.Helper()
	k, err := postroom.NewKinds(cfg)
	require.NoError(t, err)
	return k
}

// carriedBy is a kind of the host's.
func carriedBy(handler postroom.Handler) postroom.Kind {
	return postroom.Kind{Type: "print", Summary: "print the message", Handler: handler}
}

func handle(context.Context, postroom.Run, postroom.Action) (postroom.Outcome, error) {
	return postroom.Outcome{}, nil
}

func takeBack(context.Context, postroom.Run, postroom.Action) (postroom.Commit, error) {
	return nil, nil
} //nolint:nilnil // nothing to write

func TestNilKindsAreThoseOfTheMailbox(t *testing.T) {
	var builtin *postroom.Kinds
	want := []postroom.ActionType{
		"apply_label", "archive", "delete", "mark_read", "mark_unread", "move", "none", "remove_label", "restore", "snooze",
		"star", "trash", "unstar",
	}
	require.Equal(t, want, builtin.Types())
	require.Equal(t, want, kinds(t, postroom.KindsConfig{}).Types())

	err := builtin.Check(postroom.Forward, nil, decidedAt)
	require.ErrorIs(t, err, postroom.ErrNotCarriedOut)
	require.EqualError(t, err, "action forward: nobody carries it out here; the actions are [apply_label archive delete "+
		"mark_read mark_unread move none remove_label restore snooze star trash unstar]")
	require.ErrorContains(t, builtin.Check("explode", nil, decidedAt), `"explode" is not an action`)
	require.Equal(t, postroom.Dangerous, builtin.Danger("explode"), "what is not known is dangerous")
	require.True(t, builtin.Knows(postroom.Forward))
	require.False(t, builtin.Knows("explode"))
}

func TestAHostsKind(t *testing.T) {
	kind := carriedBy(handle)
	kind.Parameters = []postroom.Parameter{{Name: "paper", Type: postroom.TextParameter,
		Values: []string{"a4", "letter"}, Required: true}}
	k := kinds(t, postroom.KindsConfig{Add: []postroom.Kind{kind}, Without: []postroom.ActionType{postroom.Trash}})
	kind.Parameters[0].Values[0] = "altered"

	require.NoError(t, k.Check("print", postroom.Parameters{"paper": "a4"}, decidedAt), "a registry is a copy")
	got, ok := k.Kind("print")
	require.True(t, ok)
	got.Parameters[0].Name = "altered"
	require.EqualError(t, k.Check("print", nil, decidedAt), `action print needs the parameter "paper": one of a4, letter`)
	require.False(t, k.Has(postroom.Trash))
	require.ErrorIs(t, k.Check(postroom.Trash, nil, decidedAt), postroom.ErrNotCarriedOut)
	require.Equal(t, postroom.ActionJob, got.Job)
	require.False(t, got.Reversible())
}

func TestNewKindsNamesTheFault(t *testing.T) {
	with := func(change func(*postroom.Kind)) postroom.KindsConfig {
		kind := carriedBy(handle)
		change(&kind)
		return postroom.KindsConfig{Add: []postroom.Kind{kind}}
	}
	parameter := func(p postroom.Parameter) postroom.KindsConfig {
		return with(func(k *postroom.Kind) { k.Parameters = []postroom.Parameter{p} })
	}
	note, _ := postroom.StandardKind(postroom.AddNote)
	for name, tc := range map[string]struct {
		cfg  postroom.KindsConfig
		want string
	}{
		"no name":             {with(func(k *postroom.Kind) { k.Type = "" }), "Type must be"},
		"the ledger's prefix": {with(func(k *postroom.Kind) { k.Type = "undo_print" }), "Type must be"},
		"none":                {with(func(k *postroom.Kind) { k.Type = postroom.None }), "cannot be replaced"},
		"no summary":          {with(func(k *postroom.Kind) { k.Summary = "" }), "Summary is empty"},
		"lines":               {with(func(k *postroom.Kind) { k.Summary = "a\nb" }), "Summary has several lines"},
		"nobody":              {with(func(k *postroom.Kind) { k.Handler = nil }), "has nobody who carries it out"},
		"nobody for a note":   {postroom.KindsConfig{Add: []postroom.Kind{note}}, "has nobody who carries it out"},
		"gmail's job": {
			with(func(k *postroom.Kind) { k.Handler, k.Job = nil, postroom.ActionJob }), "has nobody who carries it out",
		},
		"two": {
			with(func(k *postroom.Kind) {
				k.Effect = func(postroom.Parameters) postroom.Effect { return postroom.Effect{} }
			}),
			"has a Handler and an Effect",
		},
		"two jobs":         {with(func(k *postroom.Kind) { k.Job = "print" }), `has the Job "print"`},
		"undo of nothing":  {with(func(k *postroom.Kind) { k.Handler, k.Job, k.Undo = nil, "print", takeBack }), "has an Undo and no Handler"},
		"not to be undone": {with(func(k *postroom.Kind) { k.Danger = postroom.Reversible }), "cannot be undone"},
		"unknown danger":   {with(func(k *postroom.Kind) { k.Danger = 7 }), "unknown Danger 7"},
		"a safe answer": {
			with(func(k *postroom.Kind) { k.Type, k.Undo, k.Danger = postroom.AutoReply, takeBack, postroom.Safe }),
			"has the Danger safe, and auto_reply is dangerous",
		},
		"parameter without a name": {parameter(postroom.Parameter{Type: postroom.TextParameter}), `Parameters[0] has the Name ""`},
		"parameter without a type": {parameter(postroom.Parameter{Name: "a"}), `Parameters[0] "a" has the Type ""`},
		"bounds of a text":         {parameter(postroom.Parameter{Name: "a", Type: postroom.TextParameter, Max: 1}), "has Min or Max"},
		"bounds the wrong way":     {parameter(postroom.Parameter{Name: "a", Type: postroom.IntegerParameter, Min: 2, Max: 1}), "has the Min 2 above its Max 1"},
		"values of a number":       {parameter(postroom.Parameter{Name: "a", Type: postroom.IntegerParameter, Values: []string{"1"}}), "has Values"},
		"an example that does not fit": {
			with(func(k *postroom.Kind) {
				k.Parameters = []postroom.Parameter{{Name: "a", Type: postroom.TextParameter, Required: true}}
				k.Example = postroom.Parameters{"b": "text"}
			}), `Example cannot be carried out: action print needs the parameter "a"`,
		},
		"parameter twice": {
			with(func(k *postroom.Kind) {
				p := postroom.Parameter{Name: "a", Type: postroom.TextParameter}
				k.Parameters = []postroom.Parameter{p, p}
			}), `Parameters[1] is the second with the name "a"`,
		},
		"kind twice":         {postroom.KindsConfig{Add: []postroom.Kind{carriedBy(handle), carriedBy(handle)}}, "KindsConfig.Add[1] is the second of type print"},
		"without none":       {postroom.KindsConfig{Without: []postroom.ActionType{postroom.None}}, "KindsConfig.Without[0] is none"},
		"without a stranger": {postroom.KindsConfig{Without: []postroom.ActionType{"explode"}}, `Without[0] is "explode", which is not there`},
		"with and without": {
			postroom.KindsConfig{Add: []postroom.Kind{carriedBy(handle)}, Without: []postroom.ActionType{"print"}},
			"which is also in Add",
		},
	} {
		t.Run(name, func(t *testing.T) {
			k, err := postroom.NewKinds(tc.cfg)
			require.ErrorContains(t, err, tc.want)
			require.Nil(t, k)
		})
	}
}

// TestEveryStandardKindIsWhole: each can be carried out once it has somebody who does.
func TestEveryStandardKindIsWhole(t *testing.T) {
	var builtin *postroom.Kinds
	all := []postroom.ActionType{
		postroom.AddNote, postroom.CreateTask, postroom.Escalate, postroom.Forward, postroom.AutoReply,
		postroom.Archive, postroom.Move, postroom.Snooze, postroom.Delete,
	}
	for _, a := range all {
		kind, ok := postroom.StandardKind(a)
		require.True(t, ok, a)
		require.Equal(t, a, kind.Type)
		if builtin.Has(a) {
			require.True(t, kinds(t, postroom.KindsConfig{Add: []postroom.Kind{kind}}).Has(a), "it can be given as it is")
			continue
		}
		kind.Handler, kind.Undo = handle, takeBack
		require.True(t, kinds(t, postroom.KindsConfig{Add: []postroom.Kind{kind}}).Has(a))
	}
	_, ok := postroom.StandardKind("print")
	require.False(t, ok)
}

func TestParametersAreChecked(t *testing.T) {
	kind := carriedBy(handle)
	kind.Parameters = []postroom.Parameter{
		{Name: "text", Type: postroom.TextParameter}, {Name: "texts", Type: postroom.TextsParameter},
		{Name: "copies", Type: postroom.IntegerParameter, Min: 1, Max: 9}, {Name: "both", Type: postroom.BooleanParameter},
		{Name: "at", Type: postroom.TimeParameter}, {Name: "tray", Type: postroom.LabelParameter},
	}
	k := kinds(t, postroom.KindsConfig{Add: []postroom.Kind{kind}})
	for _, good := range []postroom.Parameters{
		nil, {"text": "a", "unknown": 1}, {"texts": "a"}, {"texts": []any{"a", "b"}}, {"texts": []string{"a"}},
		{"copies": 9.0}, {"copies": 1},
		{"copies": int64(2)}, {"copies": uint64(2)}, {"copies": json.Number("3")}, {"both": false}, {"at": "2026-03-01T12:00:00+01:00"}, {"tray": "Bills"},
	} {
		require.NoError(t, k.Check("print", good, decidedAt), "%v", good)
	}
	for _, tc := range []struct {
		bad  postroom.Parameters
		want string
	}{
		{postroom.Parameters{"text": 7}, `needs as the parameter "text" a text, not 7`},
		{postroom.Parameters{"text": " "}, "a text"},
		{postroom.Parameters{"texts": []any{"a", 1}}, "a list of texts"},
		{postroom.Parameters{"texts": []any{}}, "a list of texts"},
		{postroom.Parameters{"copies": 10}, "a whole number within 1 and 9, not 10"},
		{postroom.Parameters{"copies": 1.5}, "a whole number"},
		{postroom.Parameters{"copies": "1"}, "a whole number"},
		{postroom.Parameters{"copies": json.Number("1e3")}, "a whole number"},
		{postroom.Parameters{"both": "yes"}, "true or false"},
		{postroom.Parameters{"at": "tomorrow"}, "a time such as"},
		{postroom.Parameters{"tray": 1}, "the name of a label"},
		{postroom.Parameters{"tray": "sent"}, "Gmail lets nobody change it"},
	} {
		require.ErrorContains(t, k.Check("print", tc.bad, decidedAt), tc.want)
	}
}

// A recipient is checked where it is written: what no message can be sent to is refused before a person is asked.
func TestRecipientsAreAddresses(t *testing.T) {
	k := kinds(t, postroom.KindsConfig{Add: []postroom.Kind{sends(t, postroom.Forward), sends(t, postroom.AutoReply)}})
	for name, to := range map[string]any{
		"an address": "bob@example.com", "with a name": "Bob <bob@example.com>", "with a name beyond ASCII": "Jörg Bücher <j@example.com>",
		"a domain beyond ASCII": "info@bücher.example", "several in a text": "bob@example.com, Ann <ann@example.com>",
		"a list": []any{"bob@example.com", `"Bob, the boss" <boss@example.com>`}, "texts": []string{"bob@example.com"},
		"with semicolons": "bob@example.com; Ann <ann@example.com>;", "a semicolon after it": "bob@example.com; ",
		"brackets in a name": "Support [EU] <eu@example.com>", "a colon in a name": "Support: EU <eu@example.com>", "a mailbox of this machine": "root@localhost", "a tag": "bob+post@example.com",
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, k.Check(postroom.Forward, postroom.Parameters{"to": to}, decidedAt))
			require.NoError(t, k.Check(postroom.AutoReply, postroom.Parameters{"cc": to, "body": "Hi."}, decidedAt))
		})
	}
	long := strings.Repeat("x", 320) + "@example.com"
	for name, tc := range map[string]struct {
		to  any
		not string
	}{
		"a name":              {"bob", `"bob"`},
		"one of a list":       {[]any{"bob@example.com", "x"}, `"x"`},
		"one of a text":       {"bob@example.com, x", `"bob@example.com, x"`},
		"one of several":      {"bob@example.com; x", `"bob@example.com; x"`},
		"another field":       {"a@b.c\r\nBcc: x@y.z", `"a@b.c\r\nBcc: x@y.z"`},
		"a line of its own":   {"a@b.c\nx@y.z", `"a@b.c\nx@y.z"`},
		"a NUL":               {"a\x00@b.c", `"a\u0000@b.c"`},
		"an encoded name":     {"=?utf-8?q?Bob?= <bob@b.c>", `"=?utf-8?q?Bob?= \u003cbob@b.c\u003e"`},
		"no domain":           {"bob@", `"bob@"`},
		"nobody of a domain":  {"@example.com", `"@example.com"`},
		"an empty group":      {"undisclosed-recipients:;", `"undisclosed-recipients:;"`},
		"nobody beyond ASCII": {"jörg@example.com", `"jörg@example.com"`},
		"too long":            {long, `"` + long[:59] + "…"},
		"a control in a name": {"\"a\x1bb\" <a@b.c>", `"\"a\u001bb\" \u003ca@b.c\u003e"`},
	} {
		t.Run(name, func(t *testing.T) {
			const wants = ` an address such as name@example.com, or a list of addresses, not `
			require.EqualError(t, k.Check(postroom.Forward, postroom.Parameters{"to": tc.to}, time.Time{}),
				`action forward needs as the parameter "to"`+wants+tc.not)
			require.EqualError(t, k.Check(postroom.AutoReply, postroom.Parameters{"to": tc.to, "body": "Hi."}, decidedAt),
				`action auto_reply needs as the parameter "to"`+wants+tc.not)
		})
	}
	require.EqualError(t, k.Check(postroom.Forward, nil, decidedAt),
		`action forward needs the parameter "to": an address such as name@example.com, or a list of addresses`)

	only := sends(t, postroom.Forward)
	only.Parameters = []postroom.Parameter{{Name: "to", Type: postroom.TextParameter, Recipient: true,
		Values: []string{"a@b.c", "boss"}}}
	_, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{only}})
	require.ErrorContains(t, err, `"to" is a Recipient and has "boss" among its Values, which is no address`)
}

// sends is a standard kind that a host carries out.
func sends(t *testing.T, action postroom.ActionType) postroom.Kind {
	kind, ok := postroom.StandardKind(action)
	require.True(t, ok)
	kind.Job = "send"
	return kind
}

// A text with a placeholder would be sent as it is.
func TestAPlaceholderIsRefused(t *testing.T) {
	for _, action := range []postroom.ActionType{postroom.Forward, postroom.AutoReply} {
		kind, ok := postroom.StandardKind(action)
		require.True(t, ok)
		for text, refused := range map[string]bool{"Dear {{name}},": true, "{{ .Name }}": true, "{a} {{b": false} {
			err := kind.CheckParameters(postroom.Parameters{"to": "ann@example.com", "body": text}, time.Now())
			require.Equal(t, refused, err != nil, "%s: %v", text, err)
		}
	}
}

func TestWhatAnActionNeedsIsSaid(t *testing.T) {
	needs := map[postroom.ActionType]string{postroom.AddNote: "name a folder", postroom.Trash: "never read"}
	k, err := postroom.NewKinds(postroom.KindsConfig{Needs: needs})
	require.NoError(t, err)
	err = k.Check(postroom.AddNote, nil, decidedAt)
	require.ErrorIs(t, err, postroom.ErrNotCarriedOut)
	require.ErrorContains(t, err, "action add_note: nobody carries it out here: name a folder")
	require.Empty(t, k.Needs(postroom.Trash), "it is carried out")
	require.Empty(t, k.Needs(postroom.CreateTask))
	require.Empty(t, (*postroom.Kinds)(nil).Needs(postroom.AddNote))
}
