package safety_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/gate"
	"github.com/postroom-go/postroom/safety/limits"
)

// A whim is a model that decides the same about every message, whatever that is, and says of itself what it likes.
type whim struct {
	prey
	decision postroom.Decision
	queue    *queue.Queue
	ledger   *safety.Ledger
	classify rules.Config
	accounts int
	ended    chan error // of each job that has run
	decided  map[[sha256.Size]byte]bool
}

const whimCap, whimFree = 3, 2

func newWhim(t testing.TB, kinds *postroom.Kinds) *whim {
	w := &whim{prey: prey{labels: []postroom.Label{
		{ID: "Label_1", Name: "Receipts", Type: postroom.LabelUser, AvailableToClassifier: true}, {ID: "Label_2", Name: "Private", Type: postroom.LabelUser},
		{ID: "INBOX", Name: "INBOX", Type: postroom.LabelSystem}, {ID: "TRASH", Name: "TRASH", Type: postroom.LabelSystem}, {ID: "SPAM", Name: "SPAM", Type: postroom.LabelSystem},
		{ID: "UNREAD", Name: "UNREAD", Type: postroom.LabelSystem}, {ID: "SENT", Name: "SENT", Type: postroom.LabelSystem},
	}}}
	db := dbtest.SQLite(t)
	for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, safety.Migrate} {
		require.NoError(t, migrate(t.Context(), db))
	}
	var err error
	w.queue, err = queue.New(db, nil)
	require.NoError(t, err)
	var others []postroom.ActionType
	for _, kind := range kinds.Types() {
		if kind != postroom.None && !slices.Contains(hiding, kind) {
			others = append(others, kind)
		}
	}
	w.ledger, err = safety.NewLedger(safety.Config{
		DB: db, Kinds: kinds, Labels: w,
		Policy: gate.Policy{ModelFree: whimFree, ModelShare: 0.001, Caps: []limits.Cap{
			{Actions: others, Source: postroom.SourceModel, Most: whimCap, Window: 24 * time.Hour},
		}},
		Execute: func(_ context.Context, _ queue.Tx, a postroom.Action) error {
			w.passed = append(w.passed, a)
			return nil
		},
	})
	require.NoError(t, err)
	model := postroom.DeciderFunc(func(context.Context, *postroom.Message) (postroom.Decision, error) {
		return w.decision, nil
	})
	w.classify = rules.Config{Messages: w, Labels: w, Ledger: w.ledger, Rules: w, Fallback: model, Kinds: kinds}
	w.work(t)
	return w
}

// work runs jobs until the end: a dispatcher for each decision would take most of the time, and so would fuzzing what
// it does.
func (w *whim) work(t testing.TB) {
	w.ended, w.decided = make(chan error), map[[sha256.Size]byte]bool{}
	tell := func(next queue.HandlerFunc) queue.HandlerFunc {
		return func(ctx context.Context, a *queue.Attempt) error {
			err := next(ctx, a)
			w.ended <- err
			return err
		}
	}
	dispatcher, err := queue.NewDispatcher(w.queue, &queue.DispatcherConfig{Workers: 1, Exclusive: true,
		Middleware: []queue.Middleware{tell}})
	require.NoError(t, err)
	require.NoError(t, rules.Register(dispatcher, w.classify))
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- dispatcher.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-stopped)
	})
}

// hiding are the actions that take a message out of the inbox.
var hiding = []postroom.ActionType{postroom.Archive, postroom.Move, postroom.Snooze, postroom.Trash}

// isNew reports whether the decision has not been made yet: most inputs, above all of those that the fuzzer tries to
// make a shorter one of, are no JSON, and stand for a decision without parameters.
func (w *whim) isNew(d *postroom.Decision) bool {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", *d))
	known := w.decided[sum]
	w.decided[sum] = true
	return !known
}

// decide has the decision made about some messages of a new account.
func (w *whim) decide(t *testing.T, d postroom.Decision) []postroom.Action {
	w.accounts++
	account := "account-" + strconv.Itoa(w.accounts)
	w.decision, w.mails, w.passed = d, nil, nil
	var jobs []queue.NewJob
	for range whimFree + whimCap + 1 {
		w.deliver("Hello.")
		m := w.mails[len(w.mails)-1]
		m.AccountID, m.ID = account, account+"-"+m.ID
		jobs = append(jobs, rules.NewClassifyJob(account, m.ID))
	}
	_, err := w.queue.EnqueueMany(t.Context(), jobs)
	require.NoError(t, err)
	for range jobs {
		require.NoError(t, <-w.ended)
	}
	recorded, err := w.ledger.Actions(t.Context(), safety.Filter{AccountID: account})
	require.NoError(t, err)
	require.Len(t, recorded, len(w.mails), "each message has an action")
	return w.passed
}

// FuzzDecisions lets a model decide anything, through the job that decides, the contract and the ledger: nothing
// irreversible, no recipient, no unknown label and no more than the caps passes without a person, and each message
// has a decision on record.
func FuzzDecisions(f *testing.F) {
	kinds := outboundKinds(f)
	types := kinds.Types()
	for i := range types {
		f.Add(uint8(i), "{}", "Receipts", "me@example.com", 1.0, true)
		f.Add(uint8(i), `{"amount":1,"units":"days","body":"x","until":"2999-01-01T00:00:00Z"}`, "TRASH",
			"thief@evil.example", 0.9, false)
	}
	f.Add(uint8(0), `{"label":["Receipts","TRASH"],"to":["a@b.cc"],"cc":1e999,"note":null}`, "", "", math.NaN(), true)
	f.Add(uint8(0), `{"LABEL":"TRASH","label ":"x"}`, "Rec\u202estpie", "", -1.0, false)
	w := newWhim(f, kinds)
	f.Fuzz(func(t *testing.T, kind uint8, parameters, label, to string, confidence float64, claims bool) {
		d := postroom.Decision{Action: "explode", Confidence: confidence, Rationale: "I say so",
			Parameters: postroom.Parameters{}}
		if int(kind) < 2*len(types) {
			d.Action = types[int(kind)%len(types)]
		}
		if json.Unmarshal([]byte(parameters), &d.Parameters) != nil || d.Parameters == nil {
			d.Parameters = postroom.Parameters{}
		}
		for name, value := range map[string]string{postroom.ParamLabel: label, "to": to} {
			if value != "" {
				d.Parameters[name] = value
			}
		}
		if claims {
			d.Source, d.RuleID, d.RuleName, d.RuleVersion = postroom.SourceDeterministic, "rule-1", "a rule", "1"
			d.SafeMode, d.Key, d.Model = postroom.SafeDangerousOverride, to, label
		}
		if w.isNew(&d) {
			requireHarmless(t, kinds, w.decide(t, d))
		}
	})
}

func requireHarmless(t *testing.T, kinds *postroom.Kinds, passed []postroom.Action) {
	hidden, others := 0, 0
	for _, a := range passed {
		kind, known := kinds.Kind(a.Type)
		require.True(t, known, "%s passed", a.Type)
		require.NotEqual(t, postroom.Dangerous, kind.Danger, "%s passed", a.Type)
		require.True(t, kind.Reversible(), "%s passed", a.Type)
		for _, p := range kind.Parameters {
			require.NotContains(t, []string{"to", "cc", "bcc"}, p.Name, "%s names a recipient", a.Type)
			if id, given := a.Parameters.Text(p.Name); given && p.Type == postroom.LabelParameter {
				require.Equal(t, "Label_1", id, "%s passed", a.Type)
			}
		}
		if slices.Contains(hiding, a.Type) {
			hidden++
		} else {
			others++
		}
	}
	require.LessOrEqual(t, hidden, whimFree)
	require.LessOrEqual(t, others, whimCap)
}
