package safety

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/gate"
)

// drawer has the labels of an account.
type drawer []postroom.Label

func (d drawer) LabelsTx(context.Context, queue.Tx, string) ([]postroom.Label, error) {
	if d == nil {
		return nil, errors.New("the drawer is stuck")
	}
	return d, nil
}

// TestOnlyTheModelNamesTheRecipient: the sender and those of the list are known, whatever the kind.
func TestOnlyTheModelNamesTheRecipient(t *testing.T) {
	tell, _ := postroom.StandardKind(postroom.AddNote)
	tell.Type, tell.Parameters = "tell",
		[]postroom.Parameter{{Name: "whom", Type: postroom.TextsParameter, Recipient: true}}
	tell.Handler = func(context.Context, postroom.Run, postroom.Action) (postroom.Outcome, error) {
		return postroom.Outcome{}, nil
	}
	tell.Undo = func(context.Context, postroom.Run, postroom.Action) (postroom.Commit, error) { return nil, nil } //nolint:nilnil // nothing to write
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{tell}})
	require.NoError(t, err)
	d := newDesk(t, dbtest.SQLite(t), func(c *Config) {
		c.Kinds = kinds
		c.Policy.ModelUnattended, c.Policy.Recipients = []postroom.ActionType{"tell"},
			[]string{"Boss@Example.com", "@corp.example", "@Bücher.example"}
		c.Policy.ModelFree = 20
	})
	msg := func() *postroom.Message {
		m := message("ann@example.com")
		m.To, m.Cc = []postroom.Address{{Email: "me@example.net"}}, []postroom.Address{{Email: "bob@example.org"}}
		m.ReplyTo = []postroom.Address{{Email: "desk@mail.example.com"}, {Email: "mallory@evil.example"}}
		return m
	}
	for whom, reason := range map[string]string{
		"boss@example.com":                          "",
		"anybody@CORP.example":                      "",
		"Ann <ANN@example.com>":                     "",
		"x@xn--bcher-kva.example, y@BÜCHER.example": "",
		"me@example.net, bob@example.org":           `only the model or the sender names the recipient "me@example.net", "bob@example.org"`,
		"desk@mail.example.com":                     "",
		"mallory@evil.example":                      `only the model or the sender names the recipient "mallory@evil.example"`,
		"bob@example.org, eve@evil.example":         `only the model or the sender names the recipient "bob@example.org", "eve@evil.example"`,
		"x@sub.corp.example":                        `only the model or the sender names the recipient "x@sub.corp.example"`,
		`"boss@example.com" <eve@evil.example>`:     `only the model or the sender names the recipient "eve@evil.example"`,
	} {
		a := d.record(msg(), model("tell", 1, "whom", whom))
		rec, err := d.ledger.Decision(t.Context(), a.DecisionID)
		require.NoError(t, err)
		require.Equal(t, reason == "", a.State == postroom.ActionQueued, whom)
		if reason != "" {
			require.Equal(t, []string{reason}, rec.Verdict.Reasons)
			require.Equal(t, []gate.Override{gate.OverrideRecipient}, rec.Verdict.Overrides)
		}
	}
	_, err = d.act(func(ctx context.Context, tx queue.Tx) (postroom.Action, error) {
		return d.ledger.Record(ctx, msg(), model("tell", 1, "whom", "everybody"))(ctx, tx)
	})
	require.ErrorIs(t, err, ErrInvalidDecision, "nobody is asked about what no message can be sent to")
	require.ErrorContains(t, err, `not "everybody"`)
	forged := d.record(msg(), model("tell", 1))
	require.Equal(t, postroom.ActionQueued, forged.State, "nobody is told")

	for _, bad := range []string{"", "@", "example.com", "Ann <ann@example.com>", "@a b"} {
		_, err := gate.New(gate.Policy{Recipients: []string{bad}}, nil)
		require.ErrorContains(t, err, "Policy.Recipients[0] is ", bad)
	}
}

// TestADangerousActionWaitsForAKnownRecipient, too, and says what is new about the others.
func TestADangerousActionWaitsForAKnownRecipient(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), func(c *Config) { c.Policy.Recipients = []string{"boss@example.com"} })
	known := d.record(message("a@example.com"), model(postroom.Forward, 1, "to", "boss@example.com"))
	require.Equal(t, postroom.ActionPendingApproval, known.State)
	require.NotContains(t, d.checks(known), gate.OverrideRecipient)
	require.Contains(t, d.checks(d.record(message("a@example.com"),
		model(postroom.Forward, 1, "to", "eve@evil.example"))), gate.OverrideRecipient)
	byRule := rule(postroom.Forward, "")
	byRule.Parameters = postroom.Parameters{"to": "eve@evil.example"}
	require.NotContains(t, d.checks(d.record(message("a@example.com"), byRule)), gate.OverrideRecipient,
		"the user's rule names it")
}

// TestTheLabelsOfAModel are those of the account that its user lets models choose from.
func TestTheLabelsOfAModel(t *testing.T) {
	labels := drawer{
		{ID: "Label_1", Name: "Receipts", Type: postroom.LabelUser, AvailableToClassifier: true},
		{ID: "Label_2", Name: "Secret", Type: postroom.LabelUser}, {ID: "STARRED", Name: "STARRED", Type: postroom.LabelSystem},
	}
	d := newDesk(t, dbtest.SQLite(t), func(c *Config) { c.Labels = &labels })
	for label, waits := range map[string]bool{"Label_1": false, "STARRED": false, "Label_2": true, "Label_3": true} {
		a := d.record(message("a@example.com"), model(postroom.ApplyLabel, 1, "label", label))
		require.Equal(t, waits, slices.Contains(d.checks(a), gate.OverrideLabel), label)
		require.Equal(t, waits, a.State == postroom.ActionPendingApproval, label)
		require.Equal(t, postroom.ActionQueued,
			d.record(message("a@example.com"), with(rule(postroom.ApplyLabel, ""), "label", label)).State)
	}
	labels = nil
	_, err := d.ledger.Record(t.Context(), message("a@example.com"), model(postroom.ApplyLabel, 1, "label", "Label_1"))(
		t.Context(), nil)
	require.ErrorContains(t, err, "the drawer is stuck")

	_, err = NewLedger(Config{DB: d.db, Execute: d.ledger.cfg.Execute, Labels: (*drawer)(nil)})
	require.ErrorContains(t, err, "safety: Config.Labels")
}
