package discord_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/discord/discordtest"
)

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
			require.Contains(t, f.press(discordtest.Press{MessageID: m.ID, Label: "Approve", User: ann}),
				"It is not what was asked")
			require.Equal(t, postroom.ActionPendingApproval, f.state(b.ID))
		}
	})
}
