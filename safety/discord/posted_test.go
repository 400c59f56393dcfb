package discord_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/discord/discordtest"
)

// TestWhatIsPostedIsWhatWasAsked: a row that is altered while the message is posted, and put right before somebody
// presses, is marked, or the press counts for nothing.
func TestWhatIsPostedIsWhatWasAsked(t *testing.T) {
	const otherState = `UPDATE actions SET state = 'queued'`
	const otherKey = `UPDATE approvals SET digest = '0badkey0:00'`
	for name, tt := range map[string]struct{ alter, right []string }{
		"another mail, of an action that does not wait": {
			[]string{otherState, `UPDATE decisions SET subject = 'Lottery', sender = 'spam@example.com'`},
			[]string{`UPDATE actions SET state = 'pending_approval'`,
				`UPDATE decisions SET subject = 'Hello', sender = 'a@example.com'`},
		},
		"other reasons, under a key that is not known": {
			[]string{`CREATE TABLE asked AS SELECT * FROM approvals`,
				otherKey, `UPDATE approvals SET reasons_json = '["the Lottery asks"]'`},
			[]string{`UPDATE approvals SET reasons_json = (SELECT reasons_json FROM asked), digest = (SELECT digest FROM asked)`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, f *fixture) {
				run := func(statements []string) {
					f.write(time.Now(), func(ctx context.Context, tx queue.Tx) error {
						for _, statement := range statements {
							if _, err := tx.ExecContext(ctx, statement); err != nil {
								return err
							}
						}
						return nil
					})
				}
				f.run()
				a := f.ask(time.Now(), nil)
				run(tt.alter)
				f.work()
				m := f.last()
				require.Contains(t, m.Text(), "Lottery", "what the person reads")
				marked := !slices.Contains(labels(m), "Approve")
				run(tt.right)
				if marked {
					return
				}
				said := f.press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann})
				require.NotContains(t, f.done(), a.ID, "the person has read something else, and was told: %s", said)
			})
		})
	}
}
