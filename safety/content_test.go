package safety

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

var (
	oneHash   = strings.Repeat("1a", 32)
	otherHash = strings.Repeat("2b", 32)
)

func (d *desk) setContent(id, sha256 string) error {
	return d.write(func(ctx context.Context, tx queue.Tx) error { return d.ledger.SetContent(ctx, tx, id, sha256) })
}

func (d *desk) exec(statement string, args ...any) {
	require.NoError(d.t, d.write(func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	}))
}

// An approval names what is sent: from the moment it is recorded, another content voids the request.
func TestApprovalNamesTheContent(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		id := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		before := d.waiting(t)[0].Approval.Digest
		require.NoError(t, d.setContent(id, oneHash))
		require.Equal(t, oneHash, d.get(id).ContentSHA256)
		require.NotEqual(t, before, d.waiting(t)[0].Approval.Digest)
		require.NoError(t, d.setContent(id, oneHash), "once more changes nothing")
		require.ErrorIs(t, d.setContent(id, otherHash), ErrContentSet)
		require.ErrorContains(t, d.setContent(id, "abc"), "is not a SHA-256")
		require.ErrorIs(t, d.setContent("nothing", oneHash), postroom.ErrNotFound)

		d.exec("UPDATE actions SET content_sha256 = $1 WHERE id = $2", otherHash, id)
		_, err := d.approve(id, "ann")
		require.ErrorIs(t, err, ErrApprovalVoid)
		d.exec("UPDATE actions SET content_sha256 = $1 WHERE id = $2", oneHash, id)
		a, err := d.approve(id, "ann")
		require.NoError(t, err)
		require.Equal(t, oneHash, a.ContentSHA256)
		require.NoError(t, d.setContent(id, oneHash))
	})
}

func TestContentOfALaterRequest(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		id := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		require.NoError(t, d.setContent(id, oneHash))
		d.now = d.now.Add(8 * 24 * time.Hour)
		require.NoError(t, d.renew(id))
		d.exec("UPDATE actions SET content_sha256 = '' WHERE id = $1", id)
		_, err := d.approve(id, "ann")
		require.ErrorIs(t, err, ErrApprovalVoid, "the new request names the content too")
	})
}

// What has been altered before is not made good by naming the content.
func TestContentMakesNoVoidRequestGood(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		id := d.record(message("a@example.com"), model(postroom.Delete, 1)).ID
		d.exec(`UPDATE actions SET parameters_json = '{"to":"mallory@example.com"}' WHERE id = $1`, id)
		require.ErrorIs(t, d.setContent(id, oneHash), ErrAltered)
		_, err := d.approve(id, "ann")
		require.ErrorIs(t, err, ErrApprovalVoid)
	})
}

func TestContentOfAnActionByItsState(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		a := d.record(message("a@example.com"), rule(postroom.Archive, ""))
		_, err := d.start(a.ID, "job-1")
		require.NoError(t, err)
		require.NoError(t, d.setContent(a.ID, oneHash), "a rule's own action is composed when it is executed")
		require.ErrorIs(t, d.setContent(d.completed().ID, oneHash), ErrState)
	})
}
