package safety

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

const listField = "List-Id: <news.example>"

// A model that archives everything hides all mail of lists, and a fifth of the other.
func TestAModelThatArchivesEverything(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		lists, others := 0, 0
		for i := range 300 {
			from := fmt.Sprintf("ann@sender%d.example", i%60)
			if i%2 == 0 {
				if d.record(received(from, listField), model(postroom.Archive, 1)).State == postroom.ActionQueued {
					lists++
				}
				continue
			}
			if d.record(received(from), model(postroom.Archive, 1)).State == postroom.ActionQueued {
				others++
			}
		}
		require.Equal(t, 150, lists)
		require.LessOrEqual(t, others, 30)
		require.GreaterOrEqual(t, others, 25)
		require.Len(t, d.asked, 1, "one request that lists the messages")
		first, err := d.ledger.ApprovalsOf(t.Context(), d.asked[0])
		require.NoError(t, err)
		require.Equal(t, first[0].ID, first[0].Group)
		all, err := d.ledger.Approvals(t.Context(), Filter{Group: first[0].ID, Limit: 100})
		require.NoError(t, err)
		require.Len(t, all, mostAsked)
		require.Len(t, d.joined, mostAsked-1)
		require.Equal(t, first[0].ID, d.joined[0], "who shows the first is called")
	})
}

// Most of a mailbox is newsletters, which are archived rightly: nobody is asked.
func TestNewslettersAreNoShare(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), nil)
	for i := range 300 {
		if i%5 == 0 {
			d.record(received(fmt.Sprintf("ann@sender%d.example", i)), model(postroom.None, 1))
			continue
		}
		a := d.record(received(fmt.Sprintf("news@list%d.example", i%40), listField), model(postroom.Archive, 1))
		require.Equal(t, postroom.ActionQueued, a.State)
	}
	require.Empty(t, d.asked)
}

// One sender does not make the share larger, nor do many that nobody has verified.
func TestASenderDoesNotRaiseTheShare(t *testing.T) {
	for name, from := range map[string]func(i int) *postroom.Message{
		"one domain": func(i int) *postroom.Message { return received(fmt.Sprintf("a@host%d.mallory.example", i)) },
		"forged":     func(i int) *postroom.Message { return message(fmt.Sprintf("a@mallory%d.example", i)) },
		"list forged": func(i int) *postroom.Message {
			msg := received(fmt.Sprintf("a@mallory%d.example", i), listField)
			msg.Headers[1].Value = "mx.google.com; spf=none"
			return msg
		},
	} {
		d := newDesk(t, dbtest.SQLite(t), nil)
		taken := 0
		for i := range 200 {
			if d.record(from(i), model(postroom.Archive, 1)).State == postroom.ActionQueued {
				taken++
			}
		}
		require.LessOrEqual(t, taken, d.ledger.gate.Policy().ModelFree, name)
	}
}

// Notices are asked about in one request a day, and the next day in another.
func TestNoticesAreAskedAboutTogether(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		for i := range 20 {
			d.record(received(fmt.Sprintf("no-reply@bank%d.example", i)), model(postroom.Archive, 1))
		}
		require.Len(t, d.asked, 1)
		require.Len(t, d.waiting(t), 20)
		d.now = d.now.Add(24*time.Hour + time.Second)
		d.record(received("no-reply@bank.example"), model(postroom.Archive, 1))
		d.record(received("no-reply@bank.example"), model(postroom.Archive, 1))
		require.Len(t, d.asked, 2)
	})
}

// The mails of one sender cause three requests and a group of bounded size; a model's doubt about nothing causes none.
func TestAFloodOfRequests(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		var last postroom.Action
		for i := range 300 {
			last = d.record(received(fmt.Sprintf("a%d@mallory.example", i)), model(postroom.Trash, 1))
			nothing := model(postroom.None, 0)
			nothing.NeedsApproval = true
			require.Equal(t, postroom.ActionCompleted, d.record(received("a@mallory.example"), nothing).State)
		}
		require.Len(t, d.asked, 4, "three alone, and the others together")
		n, err := d.ledger.CountApprovals(t.Context())
		require.NoError(t, err)
		require.Equal(t, 50, n)
		require.Equal(t, postroom.ActionCanceled, last.State)
		require.Equal(t, "not asked: there were 50 such requests within a day (a model does not trash alone)", last.Error)

		honest := d.record(received("ann@example.com"), model(postroom.Trash, 1))
		require.Equal(t, postroom.ActionPendingApproval, honest.State, "another sender")
		for range 60 {
			own := d.record(received("a@mallory.example"), rule(postroom.Delete, ""))
			require.Equal(t, postroom.ActionPendingApproval, own.State, "a rule of the user always asks")
		}
	})
}

// Whatever ends the first request of a group, the next of it that waits is asked about in its place.
func TestTheFirstOfAGroupEnds(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, nil)
		notice := func() postroom.Action {
			return d.record(received("no-reply@bank.example"), model(postroom.Archive, 1))
		}
		var ids []string
		for range 5 {
			ids = append(ids, notice().ID)
		}
		_, err := d.approve(ids[0], "ann")
		require.NoError(t, err)
		require.Equal(t, []string{ids[0], ids[1]}, d.asked, "answered")
		require.NoError(t, d.cancel(ids[1], "removed"))
		require.Equal(t, []string{ids[2]}, d.asked[2:], "withdrawn")
		require.NoError(t, d.renew(ids[2]))
		require.Equal(t, []string{ids[3], ids[2]}, d.asked[3:], "renewed, and stands alone")
		joined := len(d.joined)
		_, err = d.reject(ids[4], "ann", "")
		require.NoError(t, err)
		require.Len(t, d.joined, joined, "the shown one waits alone")
		_, err = d.reject(ids[3], "ann", "")
		require.NoError(t, err)
		require.Len(t, d.asked, 5, "none is left")
		last := notice()
		require.Equal(t, []string{last.ID}, d.asked[5:], "the first that waits of a group that has others behind it")
		notice()
		require.Len(t, d.asked, 6)
	})
}

// Who shows the first of a group is called when another of it ends.
func TestAnotherOfAGroupEnds(t *testing.T) {
	d := newDesk(t, dbtest.SQLite(t), nil)
	var last postroom.Action
	for range 4 {
		last = d.record(received("no-reply@bank.example"), model(postroom.Archive, 1))
	}
	joined := len(d.joined)
	_, err := d.reject(last.ID, "ann", "")
	require.NoError(t, err)
	require.Len(t, d.asked, 1)
	require.Len(t, d.joined, joined+1)
	require.Equal(t, d.joined[0], d.joined[joined])
}

// A request that has expired is not the first of its group: the next is asked about.
func TestTheFirstOfAGroupExpires(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, func(cfg *Config) { cfg.ApprovalExpiry = time.Hour })
		notice := func() postroom.Action {
			return d.record(received("no-reply@bank.example"), model(postroom.Archive, 1))
		}
		notice()
		d.now = d.now.Add(time.Hour)
		second := notice()
		require.Equal(t, second.ID, d.asked[len(d.asked)-1])
		require.Len(t, d.asked, 2)
	})
}

// What is approved one by one is asked about one by one, and no more often in a day.
func TestWhatCannotBeUndoneIsNotGrouped(t *testing.T) {
	sending := model(postroom.Forward, 1)
	sending.Parameters = postroom.Parameters{"to": "b@example.com"}
	host := model("file", 1)
	host.NeedsApproval = true
	for name, decision := range map[string]postroom.Decision{
		"dangerous": model(postroom.Delete, 1), "sends": sending, "of the host": host,
	} {
		d := newDesk(t, dbtest.SQLite(t), func(cfg *Config) {
			forward, _ := postroom.StandardKind(postroom.Forward)
			forward.Handler = func(context.Context, postroom.Run, postroom.Action) (o postroom.Outcome, err error) {
				return o, nil
			}
			file := forward
			file.Type, file.Summary, file.Parameters, file.Danger = "file", "file it", nil, postroom.Reversible
			file.Undo = func(context.Context, postroom.Run, postroom.Action) (postroom.Commit, error) { return nil, nil } //nolint:nilnil // nothing to write
			var err error
			cfg.Kinds, err = postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{forward, file}})
			require.NoError(t, err)
		})
		for range mostAlone + 1 {
			d.record(received("a@mallory.example"), model(postroom.Trash, 1))
		}
		var last postroom.Action
		for range mostAsked + 1 {
			last = d.record(received("a@mallory.example"), decision)
		}
		require.Len(t, d.asked, mostAlone+1+mostAsked, name)
		require.Empty(t, d.joined, name)
		require.Contains(t, last.Error, "not asked: there were 50 such requests", name)
	}
}
