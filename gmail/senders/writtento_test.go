package senders

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// A person who has written to an address knows it; a program's answer, a draft and mail from there do not count.
func TestCorrespondents(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		w := newWorld(t, db, gmailapi.Limits{})
		save := func(m postroom.Message) {
			m.AccountID, m.ProviderID, m.ProviderThreadID = w.account, rand.Text(), rand.Text()
			m.Subject, m.ReceivedAt = "Tea", time.Now()
			require.NoError(t, db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
				_, err := w.store.SaveMessage(ctx, tx, &m, 1)
				return err
			}))
		}
		to := func(emails ...string) (list []postroom.Address) {
			for _, email := range emails {
				list = append(list, postroom.Address{Email: email})
			}
			return list
		}
		me, sent := postroom.Address{Email: w.server.Email()}, []string{postroom.LabelSent}
		save(postroom.Message{From: me, To: to("Mum@example.org"), Cc: to("dad@exämple.org"), LabelIDs: sent})
		save(postroom.Message{From: me, To: to("eve@example.org"), LabelIDs: sent,
			Headers: []postroom.Header{{Name: "Auto-Submitted", Value: "auto-replied"}}})
		save(postroom.Message{From: me, To: to("eve@mail.other.org"), LabelIDs: sent,
			Headers: []postroom.Header{{Name: "Auto-Submitted", Value: "auto-replied"}}})
		save(postroom.Message{From: me, To: to("ann@mail.known.org"), LabelIDs: sent})
		save(postroom.Message{From: me, To: to("draft@example.org"), LabelIDs: []string{postroom.LabelDraft}})
		save(postroom.Message{From: postroom.Address{Email: "ann@example.org"}, To: []postroom.Address{me}})
		addresses := map[string]bool{
			"mum@example.org": true, "MUM@Example.org": true, "DAD@exämple.org": true, "um@example.org": false,
			"eve@example.org": false, "draft@example.org": false, "ann@example.org": false, "": false,
			`"x" OR mum@example.org`: false,
		}
		all := func() map[string]bool {
			written, err := Correspondents{Store: w.store}.AllWrittenTo(t.Context(), w.account,
				slices.Collect(maps.Keys(addresses)))
			require.NoError(t, err)
			return written
		}
		require.Equal(t, map[string]bool{"mum@example.org": true, "dad@xn--exmple-cua.org": true}, all())
		for email, known := range addresses {
			found, err := Correspondents{Store: w.store}.WrittenTo(t.Context(), w.account, email)
			require.NoError(t, err)
			require.Equal(t, known, found, email)
		}
		for domain, known := range map[string]bool{"example.org": true, "other.org": false, "known.org": true, "": false,
			"org": false} {
			found, err := Correspondents{Store: w.store}.WrittenToDomain(t.Context(), w.account, domain)
			require.NoError(t, err)
			require.Equal(t, known, found, domain)
		}
		addresses["one@example.org"] = true
		save(postroom.Message{From: me, To: to("one@example.org"), LabelIDs: sent})
		for i := range 30 { // newer mail to one of them does not hide what went to others
			save(postroom.Message{From: me, To: to("mum@example.org"), LabelIDs: sent})
			addresses[fmt.Sprintf("nobody%d@example.org", i)] = false
		}
		require.Equal(t, map[string]bool{"mum@example.org": true, "dad@xn--exmple-cua.org": true, "one@example.org": true},
			all())
		none, err := Correspondents{Store: w.store}.AllWrittenTo(t.Context(), w.account, nil)
		require.NoError(t, err)
		require.Empty(t, none)
		_, err = Correspondents{Store: w.store}.WrittenTo(t.Context(), "nobody", "mum@example.org")
		require.ErrorIs(t, err, postroom.ErrNotFound)
	})
}
