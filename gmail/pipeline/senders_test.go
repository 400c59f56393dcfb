package pipeline

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

const strangers = "rules:\n  - {name: Strangers, condition: {op: not, children: [{type: sender_seen}]}, action: archive}\n"

// New mail of an old friend is decided about rightly before the older mail is stored.
func TestAnOldFriendIsKnownBeforeTheFirstBackfill(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		p := w.pipeline(Config{})
		id := w.add(p, ada)
		file, err := rulesfile.Parse("rules.yaml", strings.NewReader(strangers))
		require.NoError(t, err)
		require.NoError(t, p.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := p.Rules.ImportFile(ctx, tx, id, file.ImportSource())
			return err
		}))
		account, err := w.server.Account(t.Context(), ada)
		require.NoError(t, err)
		service, err := account.Service(t.Context())
		require.NoError(t, err)
		insert := func(date string) string {
			raw := "From: eve@example.com\r\nDate: " + date + "\r\n\r\nTea?\r\n"
			m, err := service.Users.Messages.Insert("me", &api.Message{LabelIds: []string{postroom.LabelInbox},
				Raw: base64.URLEncoding.EncodeToString([]byte(raw))}).InternalDateSource("dateHeader").Do()
			require.NoError(t, err)
			return m.Id
		}
		insert("Sat, 07 Mar 2020 12:00:00 +0000")
		_, err = p.Queue.Enqueue(t.Context(), gmail.NewIngestJob(id, insert("Sat, 07 Mar 2026 12:00:00 +0000")))
		require.NoError(t, err)
		require.NoError(t, p.RunJobs(t.Context()))
		decisions := w.decisions(p, id)
		require.Len(t, decisions, 1)
		require.Equal(t, postroom.None, decisions[0].Decision.Action)
	})
}
