package safety_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// forward is of the first message, to bob, wanted by a model; its job does not run yet.
func (m *mailbox) forward() (id string) {
	m.write(func(ctx context.Context, tx queue.Tx) error {
		a, err := m.ledger.Record(ctx, m.messages[0], postroom.Decision{
			Action: postroom.Forward, Parameters: postroom.Parameters{"to": "bob@example.com"}, Confidence: 1,
			Rationale: "an offer",
			Source:    postroom.SourceModel, Key: uuid.NewString(),
		})(ctx, tx)
		id = a.ID
		return err
	})
	return id
}

func (m *mailbox) exec(statement string, args ...any) {
	m.write(func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	})
}

// trigger makes the database do something once a table was written to.
func (m *mailbox) trigger(name, when, table, body string) {
	if string(m.db.Dialect()) != "postgres" {
		m.exec(`CREATE TRIGGER ` + name + ` AFTER ` + when + ` ON ` + table + ` BEGIN ` + body + `; END`)
		return
	}
	m.exec(`CREATE FUNCTION ` + name + `() RETURNS trigger AS $$ BEGIN ` + body + `; RETURN NEW; END $$ LANGUAGE plpgsql`)
	m.exec(`CREATE TRIGGER ` + name + ` AFTER ` + when + ` ON ` + table + ` FOR EACH ROW EXECUTE FUNCTION ` + name + `()`)
}

func (m *mailbox) received(email string) int {
	account, err := m.server.Account(m.Context(), email)
	require.NoError(m, err)
	n, err := account.Count(m.Context())
	require.NoError(m, err)
	return n
}

// TestWhatIsSentIsWhatWasApproved, and it is sent once, whatever the database does on its own.
func TestWhatIsSentIsWhatWasApproved(t *testing.T) {
	const lie = `UPDATE actions SET parameters_json = '{"to":"mallory@example.com"}'`
	const truth = `UPDATE actions SET parameters_json = '{"to":"bob@example.com"}'`
	tests := map[string]struct {
		attack func(m *mailbox)
		bob    int // how many messages arrive
		ends   postroom.ActionState
	}{
		"nothing": {func(*mailbox) {}, 1, postroom.ActionCompleted},
		"the parameters are others while it is composed": {func(m *mailbox) {
			m.exec(lie)
			m.trigger("mend", "INSERT", "outbound_messages", truth)
		}, 0, postroom.ActionFailed},
		"the message is another once it is composed": {func(m *mailbox) {
			m.trigger("swap", "INSERT", "outbound_messages",
				`UPDATE outbound_messages SET payload_json = REPLACE(payload_json, 'bob@', 'mallory@')`)
		}, 1, postroom.ActionCompleted},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				m := newMailbox(t, db)
				require.Zero(t, m.received("bob@example.com"))
				require.Zero(t, m.received("mallory@example.com"))
				id := m.forward()
				m.approve(id, time.Now())
				tt.attack(m)
				m.run()
				require.Zero(t, m.received("mallory@example.com"))
				require.Equal(t, tt.bob, m.received("bob@example.com"))
				a, err := m.ledger.Action(t.Context(), id)
				require.NoError(t, err)
				require.Equal(t, tt.ends, a.State, a.Error)
			})
		})
	}
}

// TestOnlyWhatIsVerifiedIsShown: nobody is shown what was made of an action that was altered.
func TestOnlyWhatIsVerifiedIsShown(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		m := newMailbox(t, db)
		id := m.forward()
		m.exec(`UPDATE actions SET parameters_json = '{"to":"mallory@example.com"}'`)
		a, err := m.ledger.Action(t.Context(), id)
		require.NoError(t, err)
		_, err = m.gmail.Outbox.Preview(t.Context(), a)
		require.Equal(t, gmailapi.ClassRefused, gmailapi.ClassOf(err))
		require.ErrorContains(t, err, "it was altered in the database")
	})
}
