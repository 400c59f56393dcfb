package appointments_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/appointments"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// A message has one draft, to the owner, with what is not over; it is the owner's from then on.
func TestADraftIsMadeOnce(t *testing.T) {
	onBoth(t, true, func(d *desk) {
		over := appointment("0", "Gone", "gone")
		over.Over = true
		d.follow("m", over)
		d.work()
		require.Empty(d, d.drafts, "nothing is to come")

		d.follow("m", over, appointment("1", "Tea", "at five"), appointment("2", "Tea", "at six"))
		d.work()
		d.follow("m", appointment("1", "Tea", "at seven"))
		d.work()
		d.follow("m")
		d.work()
		require.Equal(d, 1, d.calls)
		content := d.drafts[appointments.DraftKey("m")]
		require.Equal(d, []mime.Address{{Email: owner}}, content.To)
		require.Equal(d, "Appointment: Bcc: eve@bad.example", content.Subject, "one line")
		require.Equal(d, "Tea\nat five", content.Text)
		require.Len(d, content.Attachments, 2)
		require.Equal(d, teaFile, content.Attachments[0].Filename)
		require.NotEqual(d, teaFile, content.Attachments[1].Filename)
		require.Equal(d, "at six", string(content.Attachments[1].Content))
		built, err := (&mime.Outgoing{Draft: true, To: content.To, Subject: content.Subject, Text: content.Text,
			Attachments: content.Attachments}).Build()
		require.NoError(d, err)
		require.NotContains(d, string(built), "\r\nBcc:")
		places := map[appointments.Key]appointments.Place{{MessageID: "m"}: {Draft: "r-appointments:m"}}
		require.Equal(d, places, d.places("m"))

		require.NoError(d, d.q.DB().Write(d.Context(), func(ctx context.Context, tx queue.Tx) error {
			return appointments.Forget(ctx, tx, "ada")
		}))
		require.Empty(d, d.places("m"))
	})
}

func TestADraftIsMadeOnceWhereverTheProcessDies(t *testing.T) {
	queuetest.CrashEverywhere(t, func(t testing.TB, q *queue.Queue) queuetest.Scenario {
		d := newDesk(t, q, true)
		d.follow("m", appointment("1", "Tea", "at five"))
		return queuetest.Scenario{Register: d.register, Outside: d.lines}
	})
}
