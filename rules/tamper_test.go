package rules_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/safety"
)

// A record is the ledger as the log of a store that is made before it.
type record struct{ *safety.Ledger }

// newSignedDesk is a desk whose rules are on record, signed with the key.
func newSignedDesk(t *testing.T, db queue.DB, key string, oldKeys ...string) *desk {
	d := newDesk(t, db)
	log := &record{}
	var err error
	d.store, err = rules.NewStore(rules.StoreConfig{DB: db, Kinds: everyKind(t), Log: log})
	require.NoError(t, err)
	cfg := safety.Config{
		DB: db, Kinds: everyKind(t), Rules: d.store, RuleStores: []safety.RuleStore{d.store}, Key: []byte(strings.Repeat(key, 32)),
		Execute: func(context.Context, queue.Tx, postroom.Action) error { return nil },
	}
	for _, old := range oldKeys {
		cfg.OldKeys = append(cfg.OldKeys, []byte(strings.Repeat(old, 32)))
	}
	d.ledger, err = safety.NewLedger(cfg)
	require.NoError(t, err)
	log.Ledger = d.ledger
	engine, err := rules.NewEngine(rules.EngineConfig{Store: d.store})
	require.NoError(t, err)
	d.cfg.Ledger, d.cfg.Rules, d.cfg.Kinds = d.ledger, engine, everyKind(t)
	return d
}

// everyKind has forward besides what package gmail carries out.
func everyKind(t *testing.T) *postroom.Kinds {
	kind, _ := postroom.StandardKind(postroom.Forward)
	kind.Handler = func(context.Context, postroom.Run, postroom.Action) (postroom.Outcome, error) {
		return postroom.Outcome{}, nil
	}
	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{kind}})
	require.NoError(t, err)
	return kinds
}

func (d *desk) exec(t *testing.T, statements ...string) {
	d.write(t, func(ctx context.Context, tx queue.Tx) error {
		for _, s := range statements {
			_, err := tx.ExecContext(ctx, s)
			require.NoError(t, err, s)
		}
		return nil
	})
}

// Faults are what the audit finds.
func (d *desk) faults(t *testing.T) map[string]string {
	audit, err := d.ledger.VerifyAudit(t.Context(), nil)
	require.NoError(t, err)
	found := map[string]string{}
	for _, f := range audit.Faults {
		found[f.Kind+" "+f.Subject] = f.What
	}
	return found
}

const (
	keepRules    = `CREATE TABLE kept AS SELECT * FROM deterministic_rules` //nolint:unqueryvet // all columns there are
	putBackRules = `INSERT INTO deterministic_rules SELECT * FROM kept`     //nolint:unqueryvet // the same
	bump         = `UPDATE rules_revision SET revision = revision + 1`
	insertByHand = `INSERT INTO deterministic_rules (id, account_id, name, enabled, scope, priority, position, conditions, action, parameters, safe_mode, authentication, created_at, updated_at)
VALUES ('forged', '', 'Forged', 1, 'global', 1, 0, '{"type":"sender_email","value":"amy@example.com"}', 'forward', '{"to":["thief@evil.example"]}', 'dangerous_override', 'not_required', '2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.000000Z')`
)

// TestARuleThatSomethingElseHasWritten decides nothing without a person, whatever its safe mode, and the audit finds it.
func TestARuleThatSomethingElseHasWritten(t *testing.T) {
	forward := func() rules.Rule {
		return fromAmy(postroom.Forward, postroom.Parameters{"to": []any{"boss@example.com"}}, postroom.SafeDangerousOverride)
	}
	for name, tc := range map[string]struct {
		prepare func(t *testing.T, d *desk, id string)
		attack  []string
		waits   bool // else the mail is left alone
		doubt   string
		found   string // empty: by the kind of rule
		what    string
	}{
		"added": {
			attack: []string{`DELETE FROM deterministic_rules WHERE 1 = 0`, insertByHand}, waits: true, doubt: "is not on record", found: "rule forged", what: "is not on record",
		},
		"its parameters altered": {
			attack: []string{`UPDATE deterministic_rules SET parameters = '{"to":["thief@evil.example"]}'`}, waits: true, doubt: "was altered in the database", what: "was altered",
		},
		"its condition altered": {
			attack: []string{`UPDATE deterministic_rules SET conditions = '{"type":"subject_regex","value":"."}', authentication = 'not_required'`}, waits: true, doubt: "was altered in the database", what: "was altered",
		},
		"enabled": {
			prepare: func(t *testing.T, d *desk, id string) {
				d.write(t, func(ctx context.Context, tx queue.Tx) error { return d.store.SetEnabled(ctx, tx, id, false) })
			},
			attack: []string{`UPDATE deterministic_rules SET enabled = 1`}, waits: true, doubt: "was put back", what: "was put back",
		},
		"put back": {
			prepare: func(t *testing.T, d *desk, id string) {
				d.exec(t, keepRules)
				d.write(t, func(ctx context.Context, tx queue.Tx) error {
					_, err := d.store.Patch(ctx, tx, id, rules.Patch{SafeMode: new(postroom.SafeDefault), Parameters: &postroom.Parameters{"to": []any{"nobody@example.com"}}})
					return err
				})
			},
			attack: []string{`DELETE FROM deterministic_rules`, putBackRules}, waits: true, doubt: "was put back", what: "was put back",
		},
		"put back after it was deleted": {
			prepare: func(t *testing.T, d *desk, id string) {
				d.exec(t, keepRules)
				d.write(t, func(ctx context.Context, tx queue.Tx) error { return d.store.Delete(ctx, tx, id) })
			},
			attack: []string{putBackRules}, waits: true, doubt: "was put back", what: "was put back",
		},
		"put back, and the log says nothing of it any more": {
			prepare: func(t *testing.T, d *desk, id string) {
				d.exec(t, keepRules)
				d.write(t, func(ctx context.Context, tx queue.Tx) error { return d.store.Delete(ctx, tx, id) })
			},
			attack: []string{putBackRules, `DELETE FROM audit_entries WHERE kind = 'rule'`}, waits: true, doubt: "and in the log as well", what: "the last of them are gone",
		},
		"an entry forged": {
			attack: []string{
				`UPDATE deterministic_rules SET parameters = '{"to":["thief@evil.example"]}'`,
				`UPDATE audit_entries SET rev = 7, note = 'enabled' WHERE kind = 'rule'`,
			}, waits: true, doubt: "was altered in the database", what: "was altered",
		},
		"removed": {attack: []string{`DELETE FROM deterministic_rules`}, what: "it is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				d := newSignedDesk(t, db, "a")
				require.NoError(t, d.ledger.AdoptRules(t.Context()))
				rule := d.create(t, forward())
				if tc.prepare != nil {
					tc.prepare(t, d, rule.ID)
				}
				require.Empty(t, d.faults(t))
				d.exec(t, append(tc.attack, bump)...)
				found := tc.found
				if found == "" {
					found = "rule " + rule.ID
				}
				require.Contains(t, d.faults(t)[found], tc.what)

				require.NoError(t, d.ledger.AdoptRules(t.Context()), "a start")
				e := d.classify(t)
				require.Contains(t, d.faults(t)[found], tc.what, "it is still found")
				if !tc.waits {
					require.Equal(t, postroom.None, e.Action.Type)
					return
				}
				require.Equal(t, postroom.Forward, e.Action.Type)
				require.Equal(t, postroom.ActionApprovedPending, e.Action.State)
				require.Contains(t, e.Decision.Verdict.Overrides, safety.OverrideUnsigned)
				require.Contains(t, strings.Join(e.Decision.Verdict.Reasons, "; "), tc.doubt)
				require.Empty(t, e.Decision.Verdict.Released, "its safe mode does not count")
			})
		})
	}
}

// TestASignedRuleDecides whatever has changed it, by the store.
func TestASignedRuleDecides(t *testing.T) {
	for name, change := range map[string]func(ctx context.Context, tx queue.Tx, s *rules.Store, id string) error{
		"created": func(context.Context, queue.Tx, *rules.Store, string) error { return nil },
		"patched": func(ctx context.Context, tx queue.Tx, s *rules.Store, id string) error {
			_, err := s.Patch(ctx, tx, id, rules.Patch{Priority: new(7)})
			return err
		},
		"enabled": func(ctx context.Context, tx queue.Tx, s *rules.Store, id string) error {
			if err := s.Disable(ctx, tx, id, "odd"); err != nil {
				return err
			}
			return s.SetEnabled(ctx, tx, id, true)
		},
		"swapped": func(ctx context.Context, tx queue.Tx, s *rules.Store, id string) error {
			other, err := s.Create(ctx, tx, rules.NewRule("Other", rules.Condition{Type: rules.SenderEmail, Value: "x@example.com"}, postroom.Star, nil))
			if err != nil {
				return err
			}
			return s.Swap(ctx, tx, id, other.ID)
		},
		"imported": func(ctx context.Context, tx queue.Tx, s *rules.Store, _ string) error {
			_, err := s.Import(ctx, tx, "", []rules.Rule{fromAmy(postroom.Trash, nil, postroom.SafeDangerousOverride)})
			return err
		},
		"restored": func(ctx context.Context, tx queue.Tx, s *rules.Store, id string) error {
			if err := s.Delete(ctx, tx, id); err != nil {
				return err
			}
			_, err := s.Restore(ctx, tx, 1)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				d := newSignedDesk(t, db, "a")
				rule := d.create(t, fromAmy(postroom.Trash, nil, postroom.SafeDangerousOverride))
				d.write(t, func(ctx context.Context, tx queue.Tx) error { return change(ctx, tx, d.store, rule.ID) })
				require.Empty(t, d.faults(t))
				e := d.classify(t)
				require.Equal(t, postroom.ActionQueued, e.Action.State, "%v", e.Decision.Verdict.Reasons)
			})
		})
	}
}

// TestNoRuleDecidesWhereOneWasRemoved: the one that is gone may have been the exception.
func TestNoRuleDecidesWhereOneWasRemoved(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newSignedDesk(t, db, "a")
		require.NoError(t, d.ledger.AdoptRules(t.Context()))
		keep := fromAmy(postroom.None, nil, postroom.SafeDefault)
		keep.Name, keep.Priority = "Keep", 1
		exception := d.create(t, keep)
		d.create(t, fromAmy(postroom.Trash, nil, postroom.SafeDangerousOverride))
		d.exec(t, `DELETE FROM deterministic_rules WHERE name = 'Keep'`, bump)
		e := d.classify(t)
		require.Equal(t, postroom.ActionApprovedPending, e.Action.State)
		require.Contains(t, e.Decision.Decision.Rationale, "rule "+exception.ID+" was removed in the database")
		d.write(t, func(ctx context.Context, tx queue.Tx) error { return d.store.Confirm(ctx, tx, exception.ID) })
		require.Empty(t, d.faults(t), "a person has confirmed that it is deleted")
	})
}

// TestAnEditVouchesForNothingElse: what something else has written is not signed with what a person changes.
func TestAnEditVouchesForNothingElse(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newSignedDesk(t, db, "a")
		require.NoError(t, d.ledger.AdoptRules(t.Context()))
		mine := d.create(t, fromAmy(postroom.Archive, nil, postroom.SafeDefault))
		d.exec(t, insertByHand)
		refused := func(change func(ctx context.Context, tx queue.Tx) error) {
			require.ErrorIs(t, d.queue.DB().Write(t.Context(), change), rules.ErrAltered)
		}
		refused(func(ctx context.Context, tx queue.Tx) error {
			_, err := d.store.Patch(ctx, tx, "forged", rules.Patch{Priority: new(3)})
			return err
		})
		refused(func(ctx context.Context, tx queue.Tx) error { return d.store.Swap(ctx, tx, mine.ID, "forged") })
		refused(func(ctx context.Context, tx queue.Tx) error { return d.store.SetEnabled(ctx, tx, "forged", true) })
		d.write(t, func(ctx context.Context, tx queue.Tx) error { return d.store.SetEnabled(ctx, tx, "forged", false) })
		refused(func(ctx context.Context, tx queue.Tx) error { return d.store.SetEnabled(ctx, tx, "forged", true) })
		require.Contains(t, d.faults(t), "rule forged")

		d.write(t, func(ctx context.Context, tx queue.Tx) error { return d.store.Confirm(ctx, tx, "forged") })
		require.Empty(t, d.faults(t))
		d.write(t, func(ctx context.Context, tx queue.Tx) error { return d.store.SetEnabled(ctx, tx, "forged", true) })
		d.write(t, func(ctx context.Context, tx queue.Tx) error { return d.store.Delete(ctx, tx, "forged") })
		require.Empty(t, d.faults(t))
	})
}

// TestAnImportReplacesWhatSomethingElseHasWritten: the file is the person's.
func TestAnImportReplacesWhatSomethingElseHasWritten(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		file := []rules.Rule{fromAmy(postroom.Archive, nil, postroom.SafeDefault)}
		d := newSignedDesk(t, db, "a")
		require.NoError(t, d.ledger.AdoptRules(t.Context()))
		take := func() {
			d.write(t, func(ctx context.Context, tx queue.Tx) error {
				_, err := d.store.Import(ctx, tx, "", file)
				return err
			})
			require.Empty(t, d.faults(t))
		}
		take()
		for _, attack := range []string{
			insertByHand, `UPDATE deterministic_rules SET parameters = '{"to":"x"}'`, `UPDATE deterministic_rules SET created_at = '2001-01-01T00:00:00.000000Z'`,
			`DELETE FROM deterministic_rules`,
		} {
			d.exec(t, attack)
			require.NotEmpty(t, d.faults(t), attack)
			take()
			list, err := d.store.List(t.Context())
			require.NoError(t, err)
			require.Len(t, list, 1)
		}
	})
}

// TestAnAlteredVersionIsNotSigned when somebody goes back to it.
func TestAnAlteredVersionIsNotSigned(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newSignedDesk(t, db, "a")
		require.NoError(t, d.ledger.AdoptRules(t.Context()))
		rule := d.create(t, fromAmy(postroom.Forward, postroom.Parameters{"to": []any{"boss@example.com"}}, postroom.SafeDangerousOverride))
		d.write(t, func(ctx context.Context, tx queue.Tx) error { return d.store.Delete(ctx, tx, rule.ID) })
		v, err := d.store.Version(t.Context(), 1)
		require.NoError(t, err)
		require.False(t, v.Altered)

		d.exec(t, `UPDATE rule_history SET content = replace(content, 'boss@example.com', 'thief@evil.example')`)
		v, err = d.store.Version(t.Context(), 1)
		require.NoError(t, err)
		require.True(t, v.Altered)
		require.Contains(t, d.faults(t)["rule "+rule.ID], "kept of it with a version was altered")
		d.write(t, func(ctx context.Context, tx queue.Tx) error {
			_, err := d.store.Restore(ctx, tx, 1)
			return err
		})
		e := d.classify(t)
		require.Equal(t, postroom.ActionApprovedPending, e.Action.State)
		require.Contains(t, e.Decision.Verdict.Overrides, safety.OverrideUnsigned)
	})
}

func TestTheSourceOfAVersionIsOnRecord(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newSignedDesk(t, db, "a")
		require.NoError(t, d.ledger.AdoptRules(t.Context()))
		file, err := rulesfile.Parse("rules.yaml", strings.NewReader("rules:\n  - {name: A, condition: {type: sender_domain, value: a.example}, action: archive}\n"))
		require.NoError(t, err)
		d.write(t, func(ctx context.Context, tx queue.Tx) error {
			_, err := d.store.ImportFile(ctx, tx, "", file.ImportSource())
			return err
		})
		d.exec(t, `UPDATE rule_versions SET source = replace(source, 'archive', 'trash')`)
		v, err := d.store.Version(t.Context(), 1)
		require.NoError(t, err)
		require.True(t, v.Altered)
		require.Contains(t, d.faults(t)["rules_version 1"], "was altered")
		d.exec(t, `DELETE FROM rule_versions`)
		require.Contains(t, d.faults(t)["rules_version 1"], "gone")
	})
}

// TestRulesFromBeforeAreAdoptedOnce and only by a log that is whole.
func TestRulesFromBeforeAreAdoptedOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		before := newDesk(t, db)
		rule := before.create(t, fromAmy(postroom.Trash, nil, postroom.SafeDangerousOverride))
		gone := before.create(t, rules.NewRule("Gone", rules.Condition{Type: rules.SenderEmail, Value: "x@example.com"}, postroom.Star, nil))
		before.write(t, func(ctx context.Context, tx queue.Tx) error { return before.store.Delete(ctx, tx, gone.ID) })

		d := newSignedDesk(t, db, "a")
		audit, err := d.ledger.VerifyAudit(t.Context(), nil)
		require.NoError(t, err)
		require.Empty(t, audit.Faults)
		require.Positive(t, audit.Before)
		require.NoError(t, d.ledger.AdoptRules(t.Context()))
		require.Empty(t, d.faults(t))
		audit, err = d.ledger.VerifyAudit(t.Context(), nil)
		require.NoError(t, err)
		require.Zero(t, audit.Before)
		d.write(t, func(ctx context.Context, tx queue.Tx) error {
			_, err := d.store.Restore(ctx, tx, 2)
			return err
		})
		require.Empty(t, d.faults(t), "versions from before are adopted, too")

		d.exec(t, insertByHand, bump)
		require.NoError(t, d.ledger.AdoptRules(t.Context()), "a later start")
		require.Contains(t, d.faults(t), "rule forged")
		d.exec(t, `DELETE FROM audit_entries WHERE kind NOT IN ('decision', 'action')`)
		require.ErrorIs(t, d.ledger.AdoptRules(t.Context()), safety.ErrNotAdopted)
		require.NotEmpty(t, rule.ID)
		require.Equal(t, postroom.ActionApprovedPending, d.classify(t).Action.State)
	})
}

// TestRulesAreSignedWithTheNewKey at the start after the keys have changed.
func TestRulesAreSignedWithTheNewKey(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		first := newSignedDesk(t, db, "a")
		require.NoError(t, first.ledger.AdoptRules(t.Context()))
		rule := first.create(t, fromAmy(postroom.Trash, nil, postroom.SafeDangerousOverride))
		altered := first.create(t, rules.NewRule("B", rules.Condition{Type: rules.SenderEmail, Value: "b@example.com"}, postroom.Archive, nil))
		deleted := first.create(t, rules.NewRule("C", rules.Condition{Type: rules.SenderEmail, Value: "c@example.com"}, postroom.Archive, nil))
		first.write(t, func(ctx context.Context, tx queue.Tx) error { return first.store.Delete(ctx, tx, deleted.ID) })
		first.exec(t, `UPDATE deterministic_rules SET action = 'trash' WHERE name = 'B'`)

		both := newSignedDesk(t, db, "b", "a")
		require.NoError(t, both.ledger.AdoptRules(t.Context()))
		require.NoError(t, both.ledger.AdoptRules(t.Context()), "once is enough")
		require.Contains(t, both.faults(t)["rule "+altered.ID], "was altered", "it is not vouched for")
		second := newSignedDesk(t, db, "b")
		require.NoError(t, second.ledger.AdoptRules(t.Context()))
		found, err := second.store.Faults(t.Context())
		require.NoError(t, err)
		require.Len(t, found, 1)
		require.Equal(t, altered.ID, found[0].ID)
		second.write(t, func(ctx context.Context, tx queue.Tx) error { return second.store.Delete(ctx, tx, altered.ID) })
		e := second.classify(t)
		require.Equal(t, postroom.ActionQueued, e.Action.State, "%v", e.Decision.Verdict.Reasons)
		require.Equal(t, rule.ID, e.Decision.Decision.RuleID)

		third := newSignedDesk(t, db, "c")
		found, err = third.store.Faults(t.Context())
		require.NoError(t, err)
		require.NotEmpty(t, found)
		require.Contains(t, found[0].What, "a key that is not known")
	})
}

// TestWhoIsAskedIsToldWhichRuleWasAltered, where another rule than that one decides.
func TestWhoIsAskedIsToldWhichRuleWasAltered(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newSignedDesk(t, db, "a")
		require.NoError(t, d.ledger.AdoptRules(t.Context()))
		d.create(t, fromAmy(postroom.Star, nil, postroom.SafeDefault))
		other := d.create(t, rules.NewRule("Bills", rules.Condition{Type: rules.SenderEmail, Value: "b@example.com"}, postroom.Archive, nil))
		d.exec(t, `UPDATE deterministic_rules SET safe_mode = 'always_safe' WHERE id = '`+other.ID+`'`, bump)
		e := d.classify(t)
		require.Equal(t, postroom.ActionApprovedPending, e.Action.State)
		require.Equal(t, []safety.Override{safety.OverrideRequested}, e.Decision.Verdict.Overrides)
		altered := `rule "Bills" (` + other.ID + `) was altered in the database`
		require.Equal(t, []string{altered + ", and no rule decides without a person until that is confirmed or corrected"}, e.Decision.Verdict.Reasons)
		require.Contains(t, e.Decision.Decision.Rationale, "a person is asked, since "+altered)
	})
}
