package rulesfile_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// allKinds are all standard kinds of actions, and some of a host that needs parameters of every type.
func allKinds(t *testing.T) *postroom.Kinds {
	t.Helper()
	handler := func(context.Context, postroom.Run, postroom.Action) (postroom.Outcome, error) {
		return postroom.Outcome{}, nil
	}
	add := []postroom.Kind{{
		Type: "print", Summary: "print the message", Handler: handler,
		Parameters: []postroom.Parameter{
			{Name: "paper", Type: postroom.TextParameter, Values: []string{"a4", "letter"}, Required: true},
			{Name: "copies", Type: postroom.IntegerParameter, Min: -9, Max: -2, Required: true},
			{Name: "tray", Type: postroom.IntegerParameter, Required: true},
			{Name: "duplex", Type: postroom.BooleanParameter, Required: true},
			{Name: "due", Type: postroom.TimeParameter, Required: true},
			{Name: "for_whom", Type: postroom.TextsParameter, Required: true},
			{Name: "colour", Type: postroom.TextParameter},
		},
	}, {
		Type: "fax", Summary: "fax the message", Handler: handler,
		Parameters: []postroom.Parameter{{Name: "number", Type: postroom.TextParameter, Summary: "with the country"},
			{Name: "cover", Type: postroom.TextParameter}},
		Check: func(p postroom.Parameters, _ time.Time) error {
			if number, _ := p.Text("number"); !strings.HasPrefix(number, "+") {
				return errors.New("it needs a number with a country")
			}
			return nil
		},
	}}
	for _, name := range []postroom.ActionType{postroom.AddNote, postroom.AutoReply, postroom.CreateTask,
		postroom.Escalate, postroom.Forward} {
		kind, ok := postroom.StandardKind(name)
		require.True(t, ok)
		if kind.Danger != postroom.Dangerous {
			kind.Undo = func(context.Context, postroom.Run, postroom.Action) (postroom.Commit, error) { return nil, nil } //nolint:nilnil // nothing to write
		}
		kind.Handler = handler
		add = append(add, kind)
	}
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: add})
	require.NoError(t, err)
	return kinds
}

// What a fault advises to write has no fault, whatever the kind needs.
func TestTheAdviceForParametersIsValid(t *testing.T) {
	kinds := allKinds(t)
	const text = "labels: […]\nrules:\n  - name: r\n    condition: {type: has_attachment}\n    action: %s\n"
	advised := 0
	for _, action := range kinds.Types() {
		file := fmt.Sprintf(text, action)
		_, err := rulesfile.Parse("r.yaml", strings.NewReader(file), rulesfile.WithKinds(kinds))
		var faulty *rulesfile.FileError
		if !errors.As(err, &faulty) {
			require.NoError(t, err)
			continue
		}
		require.Len(t, faulty.Problems, 1)
		if action == "fax" {
			require.Equal(t, "its parameters are number (with the country), cover", faulty.Problems[0].Hint)
			continue
		}
		advice, ok := strings.CutPrefix(faulty.Problems[0].Hint, "write ")
		require.True(t, ok, "%s: %s", action, faulty.Problems[0].Hint)
		parsed, err := rulesfile.Parse("r.yaml", strings.NewReader(file+"    "+advice+"\n"), rulesfile.WithKinds(kinds))
		require.NoError(t, err, "%s", advice)
		require.Empty(t, parsed.Warnings, "%s", advice)
		advised++
	}
	require.Equal(t, 9, advised,
		"apply_label, move, remove_label, snooze, add_note, auto_reply, create_task, forward, print")
}

func TestEachFaultOfParametersIsReportedOnce(t *testing.T) {
	long := strings.Repeat("x", postroom.MaxLabelName+1)
	for name, test := range map[string]struct{ action, want string }{
		"a long label": {
			"action: apply_label\n    parameters: {label: " + long + "}",
			`5:17: action apply_label cannot have the label "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"…: it has 226 characters and Gmail takes 225; shorten it`,
		},
		"a long label in a list": {
			"actions: [{action: archive}, {action: move, parameters: {label: " + long + "}}]",
			`4:34: action move cannot have the label "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"…: it has 226 characters and Gmail takes 225; shorten it`,
		},
		"a list with an action that needs more": {
			"actions: [{action: archive}, {action: snooze}]",
			`4:34: action snooze: it needs one of "when", "until", and "amount" with "units"; write parameters: {amount: 3, units: days}`,
		},
		"a name that Gmail does not make": {
			"action: apply_label\n    parameters: {label: Bills/}",
			`5:17: label name "Bills/": a slash nests labels, and a part before or after one is blank; write parent/child`,
		},
		"a part of what is needed":    {"action: snooze\n    parameters: {amount: 3}", `5:17: action snooze: it needs "amount" and "units" together; write parameters: {amount: 3, units: days}`},
		"all that is needed, wrongly": {"action: snooze\n    parameters: {amount: 3, units: weeks}", `5:17: action snooze needs as the parameter "units" one of minutes, hours, days, not "weeks"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := rulesfile.Parse("r.yaml",
				strings.NewReader("rules:\n  - name: r\n    condition: {type: has_attachment}\n    "+test.action+"\n"))
			var faulty *rulesfile.FileError
			require.ErrorAs(t, err, &faulty)
			require.Len(t, faulty.Problems, 1, "%v", err)
			first, _, _ := strings.Cut(faulty.Problems[0].String(), "\n")
			require.Equal(t, "r.yaml:"+test.want, first)
		})
	}
}
