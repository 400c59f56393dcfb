package rules_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/internal/rulestest"
	"github.com/postroom-go/postroom/rules/internal/storetest"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/rules/rulestore"
)

func fileRules(t *testing.T, text string) []rules.Rule {
	t.Helper()
	file, err := rulesfile.Parse("r.yaml", strings.NewReader(text))
	require.NoError(t, err)
	return file.Rules
}

func actionsOf(decisions []postroom.Decision) []string {
	var names []string
	for _, d := range decisions {
		label, _ := d.Parameters.Text("label")
		names = append(names, strings.TrimSpace(string(d.Action)+" "+label))
	}
	return names
}

const severalActions = `
labels: [A, B]
rules:
  - name: first
    condition: {type: subject_contains, value: hello}
    actions:
      - {action: apply_label, parameters: {label: A}}
      - {action: mark_read}
    stop: false
  - name: other
    condition: {type: subject_contains, value: goodbye}
    action: trash
  - name: second
    condition: {type: subject_contains, value: hello}
    actions: [{action: mark_read}, {action: apply_label, parameters: {label: B}}]
  - name: third
    condition: {type: subject_contains, value: hello}
    action: star
`

func TestSeveralActionsAndRules(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"the second stops":        {severalActions, []string{"apply_label A", "mark_read", "apply_label B"}},
		"all":                     {"matching: all" + severalActions, []string{"apply_label A", "mark_read", "apply_label B", "star"}},
		"the first, as usual":     {strings.Replace(severalActions, "stop: false", "stop: true", 1), []string{"apply_label A", "mark_read"}},
		"the first, as it is set": {"matching: first" + strings.Replace(severalActions, "stop: false", "", 1), []string{"apply_label A", "mark_read"}},
		"all, but one stops":      {"matching: all" + strings.Replace(severalActions, "stop: false", "stop: true", 1), []string{"apply_label A", "mark_read"}},
	} {
		t.Run(name, func(t *testing.T) {
			set := rules.NewSet(fileRules(t, test.text), nil)
			decisions := set.DecideAll(mailFrom("amy@example.com"), now)
			require.Equal(t, test.want, actionsOf(decisions))
			require.Equal(t, decisions[0], set.Decide(mailFrom("amy@example.com"), now))

			keys := map[string]bool{}
			for _, d := range decisions {
				require.NoError(t, d.Validate(nil, now))
				require.False(t, keys[d.Key], "each decision has a key of its own")
				keys[d.Key] = true
			}
			require.Empty(t, decisions[0].Key)
		})
	}
	none := rules.NewSet(nil, nil).DecideAll(mailFrom("amy@example.com"), now)
	require.Equal(t, []string{"none"}, actionsOf(none))
}

func TestARuleIsStoredWhole(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db queue.DB, s *rulestore.Store) {
		r := fileRules(t, severalActions)[0]
		r.Schedule = rules.Schedule{From: "2026-01-01", Until: "2026-12-31", Times: []string{"22:00-06:00"},
			Weekdays: []string{"sat"}, Zone: "Europe/Berlin"}
		r.Authentication = rules.AuthenticationRequired
		created := storetest.Create(t, db, s, r)
		stored, err := s.Get(t.Context(), created.ID)
		require.NoError(t, err)
		require.Equal(t, created.Also, stored.Also)
		require.True(t, stored.Continue)
		require.Equal(t, r.Schedule, stored.Schedule)
		require.Equal(t, r.Authentication, stored.Authentication)
		require.Equal(t, created.Version(), stored.Version())

		no, off, anyone := false, rules.Schedule{}, rules.AuthenticationDefault
		require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
			stored, err = s.Patch(ctx, tx, created.ID, rulestore.Patch{
				Continue: &no, Schedule: &off, Authentication: &anyone, Also: &[]rules.RuleAction{{Type: postroom.Star}},
			})
			return err
		}))
		require.False(t, stored.Continue)
		require.Zero(t, stored.Schedule)
		require.NotEqual(t, created.Version(), stored.Version())

		var gate postroom.StoredRule
		require.NoError(t, storetest.Write(t, db, func(ctx context.Context, tx queue.Tx) error {
			gate, err = s.StoredRule(ctx, tx, created.ID)
			return err
		}))
		require.Len(t, gate.Actions, 2)
		require.Equal(t, postroom.Star, gate.Actions[1].Type)
		require.Equal(t, []string{"apply_label A", "star"},
			actionsOf(must(newEngine(t, s).DecideAll(t.Context(), mailFrom("amy@example.com")))))
	})
}

func TestSchedules(t *testing.T) {
	at := func(text string) time.Time {
		return must(time.Parse(time.RFC3339, text))
	}
	for _, test := range []struct {
		schedule rules.Schedule
		now      string
		want     bool
	}{
		{rules.Schedule{}, "2026-03-01T12:00:00Z", true},
		{rules.Schedule{From: "2026-03-01"}, "2026-02-28T23:59:59Z", false},
		{rules.Schedule{From: "2026-03-01"}, "2026-03-01T00:00:00Z", true},
		{rules.Schedule{From: "2026-03-01", Zone: "Europe/Berlin"}, "2026-02-28T23:00:00Z", true},
		{rules.Schedule{Until: "2026-03-01"}, "2026-03-01T23:59:59Z", true},
		{rules.Schedule{Until: "2026-03-01"}, "2026-03-02T00:00:00Z", false},
		{rules.Schedule{Times: []string{"22:00-06:00"}}, "2026-03-01T23:00:00Z", true},
		{rules.Schedule{Times: []string{"22:00-06:00"}}, "2026-03-01T05:59:00Z", true},
		{rules.Schedule{Times: []string{"22:00-06:00"}}, "2026-03-01T06:00:00Z", false},
		{rules.Schedule{Times: []string{"22:00-06:00", "12:00-13:00"}}, "2026-03-01T12:30:00Z", true},
		{rules.Schedule{Times: []string{"22:00-06:00"}, Zone: "+0800"}, "2026-03-01T14:00:00Z", true},
		{rules.Schedule{Weekdays: []string{"Sun"}}, "2026-03-01T12:00:00Z", true},
		{rules.Schedule{Weekdays: []string{"mon", "tue"}}, "2026-03-01T12:00:00Z", false},
		{rules.Schedule{Weekdays: []string{"mon"}, Zone: "Asia/Tokyo"}, "2026-03-01T16:00:00Z", true},
		// Times belong to the day on which they begin.
		{nights("UTC", "fri"), "2026-03-06T02:00:00Z", false},
		{nights("UTC", "fri"), "2026-03-06T22:00:00Z", true},
		{nights("UTC", "fri"), "2026-03-07T02:00:00Z", true},
		{nights("UTC", "fri"), "2026-03-07T06:00:00Z", false},
		{nights("UTC", "fri"), "2026-03-07T22:00:00Z", false},
		{rules.Schedule{Times: []string{"22:00-06:00"}, From: "2026-03-06", Until: "2026-03-06"}, "2026-03-06T02:00:00Z", false},
		{rules.Schedule{Times: []string{"22:00-06:00"}, From: "2026-03-06", Until: "2026-03-06"}, "2026-03-07T02:00:00Z", true},
		{rules.Schedule{Times: []string{"22:00-24:00"}, Weekdays: []string{"fri"}}, "2026-03-07T00:00:00Z", false},
		// In spring the clock of Berlin goes from 02:00 to 03:00, in autumn from 03:00 to 02:00.
		{nights("Europe/Berlin", "sat"), "2026-03-29T03:59:00Z", true},
		{nights("Europe/Berlin", "sat"), "2026-03-29T04:00:00Z", false},
		{nights("Europe/Berlin", "sun"), "2026-03-29T01:30:00Z", false},
		{nights("Europe/Berlin", "sat"), "2026-10-25T00:30:00Z", true},
		{nights("Europe/Berlin", "sat"), "2026-10-25T01:30:00Z", true},
		{nights("Europe/Berlin", "sat"), "2026-10-25T04:59:00Z", true},
		{nights("Europe/Berlin", "sat"), "2026-10-25T05:00:00Z", false},
		// In Cairo that Friday begins at 01:00.
		{rules.Schedule{Times: []string{"00:00-02:00"}, Weekdays: []string{"fri"}, Zone: "Africa/Cairo"}, "2026-04-23T21:59:00Z", false},
		{rules.Schedule{Times: []string{"00:00-02:00"}, Weekdays: []string{"fri"}, Zone: "Africa/Cairo"}, "2026-04-23T22:00:00Z", true},
		{rules.Schedule{Times: []string{"00:00-02:00"}, Weekdays: []string{"fri"}, Zone: "Africa/Cairo"}, "2026-04-23T23:00:00Z", false},
	} {
		r := rules.NewRule("r", rulestest.Predicate(rules.SubjectContains, "hello"), postroom.Star, nil)
		r.Schedule = test.schedule
		require.NoError(t, r.Validate(nil))
		_, found := rules.NewSet([]rules.Rule{r}, nil).First(mailFrom("amy@example.com"), at(test.now))
		require.Equal(t, test.want, found, "%+v at %s", test.schedule, test.now)
	}
}

func nights(zone, day string) rules.Schedule {
	return rules.Schedule{Times: []string{"22:00-06:00"}, Weekdays: []string{day}, Zone: zone}
}

// Anyone can write a From: a rule that goes by it and overrides the gate wants the server's word.
func TestARuleThatOverridesWantsAVerifiedSender(t *testing.T) {
	verified := mailFrom("amy@example.com")
	verified.Headers = []postroom.Header{
		{Name: "Received", Value: "from out.example.com by mx.google.com with ESMTPS id y; Sun, 1 Mar 2026 01:29:58 -0800"},
		{Name: "Authentication-Results", Value: "mx.google.com; dmarc=pass header.from=example.com"},
	}
	scoped := rules.NewRule("r", rulestest.Predicate(rules.SubjectContains, "hello"), postroom.Delete, nil)
	scoped.Scope, scoped.ScopeRef = rules.ScopeDomain, "example.com"
	replyTo := rules.NoneOf(rules.Condition{Type: rules.HeaderPresent, Header: "Reply-To"})
	for name, test := range map[string]struct {
		rule           rules.Rule
		mode           postroom.SafeMode
		authentication rules.Authentication
		unverified     bool // whether it matches mail of a sender who is not verified
	}{
		"by domain":                   {rules.NewRule("r", rulestest.FromDomain("example.com"), postroom.Delete, nil), postroom.SafeDangerousOverride, "", false},
		"by scope":                    {scoped, postroom.SafeDangerousOverride, "", false},
		"by a header of the sender's": {rules.NewRule("r", replyTo, postroom.Delete, nil), postroom.SafeDangerousOverride, "", false},
		"by subject":                  {rules.NewRule("r", rulestest.Predicate(rules.SubjectContains, "hello"), postroom.Delete, nil), postroom.SafeDangerousOverride, "", true},
		"not required":                {scoped, postroom.SafeDangerousOverride, rules.AuthenticationNotRequired, true},
		"without override":            {scoped, postroom.SafeDefault, "", true},
		"required":                    {scoped, postroom.SafeDefault, rules.AuthenticationRequired, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := test.rule
			r.SafeMode, r.Authentication = test.mode, test.authentication
			require.NoError(t, r.Validate(nil))
			set := rules.NewSet([]rules.Rule{r}, nil)
			_, found := set.First(mailFrom("amy@example.com"), now)
			require.Equal(t, test.unverified, found)
			_, found = set.First(verified, now)
			require.True(t, found)
		})
	}
}
