package discord_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/discord"
	"github.com/postroom-go/postroom/safety/discord/discordtest"
)

// TestTheWhitelistIsSigned: whoever can write to the database cannot write themselves into the list, or back into it.
func TestTheWhitelistIsSigned(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.run()
		set := func(people ...discord.Person) {
			f.write(time.Now(), func(ctx context.Context, tx queue.Tx) error { return discord.SetWhitelist(ctx, tx, f.ledger, people) })
		}
		exec := func(statement string) {
			f.write(time.Now(), func(ctx context.Context, tx queue.Tx) error {
				_, err := tx.ExecContext(ctx, statement)
				return err
			})
		}
		a, m := f.asked()
		listed := []discord.Person{{UserID: ann.ID, Name: "ann"}, {UserID: ben.ID, Name: "ben"}}
		for name, alter := range map[string]func(){
			"another account": func() {
				exec(`UPDATE discord_whitelist SET user_id = '` + mallory.ID + `' WHERE user_id = '` + ann.ID + `'`)
			},
			"one more": func() {
				exec(`INSERT INTO discord_whitelist SELECT '` + mallory.ID + `', name, added_at, signature FROM discord_whitelist WHERE name = 'ann'`)
			},
			"another name": func() { exec(`UPDATE discord_whitelist SET name = 'boss'`) },
			"one who was once": func() {
				set(append(listed, discord.Person{UserID: mallory.ID, Name: "mallory"})...)
				exec(`CREATE TABLE kept AS SELECT user_id, name, added_at, signature FROM discord_whitelist WHERE name = 'mallory'`)
				set(listed...)
				exec(`INSERT INTO discord_whitelist SELECT user_id, name, added_at, signature FROM kept`)
			},
			"unsigned": func() { exec(`UPDATE discord_whitelist SET signature = ''`) },
		} {
			set(listed...)
			_, err := discord.Whitelist(t.Context(), f.db, f.ledger)
			require.NoError(t, err)
			alter()
			_, err = discord.Whitelist(t.Context(), f.db, f.ledger)
			require.ErrorIs(t, err, discord.ErrWhitelistAltered, name)
			for _, user := range []discordtest.User{mallory, ann} {
				require.Contains(t, f.press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: user}), "was altered in the database", name)
			}
			require.Equal(t, postroom.ActionPendingApproval, f.state(a.ID), name)
		}
		set(listed...)
		require.Contains(t, f.press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann}), "Approved")
		require.Error(t, f.tryWrite(time.Now(), func(ctx context.Context, tx queue.Tx) error { return discord.SetWhitelist(ctx, tx, nil, nil) }))
	})
}

// TestWhatWasAlteredIsNotAsked: a message does not offer to approve what was altered before it was posted, or since.
func TestWhatWasAlteredIsNotAsked(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.run()
		alter := func(id, table string) {
			f.write(time.Now(), func(ctx context.Context, tx queue.Tx) error {
				statement := `UPDATE actions SET message_id = 'another' WHERE id = $1`
				if table == "decisions" {
					statement = `UPDATE decisions SET subject = 'Lottery' WHERE id = (SELECT decision_id FROM actions WHERE id = $1)`
				}
				_, err := tx.ExecContext(ctx, statement, id)
				return err
			})
		}
		for _, table := range []string{"actions", "decisions"} {
			a := f.ask(time.Now(), nil)
			alter(a.ID, table)
			f.work()
			require.Contains(t, fmt.Sprint(f.last().Embeds), "This is not what was asked")
			require.NotContains(t, fmt.Sprint(f.last().Components), ":approve:")

			b, m := f.asked()
			alter(b.ID, table)
			require.Contains(t, f.press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann}), "It is not what was asked")
			require.Equal(t, postroom.ActionPendingApproval, f.state(b.ID))
		}
	})
}
