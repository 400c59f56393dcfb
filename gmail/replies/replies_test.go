package replies_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

const (
	account = "ada"
	thread  = "thread"
)

type world struct {
	db    queue.DB
	queue *queue.Queue
	store *replies.Store
}

func newWorld(t *testing.T, db queue.DB) world {
	for _, migrate := range []func(context.Context, queue.DB) error{queue.Migrate, replies.Migrate, replies.Migrate} {
		require.NoError(t, migrate(t.Context(), db))
	}
	q, err := queue.New(db, nil)
	require.NoError(t, err)
	store, err := replies.New(replies.Config{DB: db, Queue: q})
	require.NoError(t, err)
	return world{db, q, store}
}

func eachWorld(t *testing.T, fn func(t *testing.T, w world)) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) { fn(t, newWorld(t, db)) })
}

// A tester is what tests and rapid's have in common.
type tester interface {
	require.TestingT
	Context() context.Context
}

// jobsOf returns the jobs of an account: type, need and turn, or type, need and action.
func (w world) jobsOf(t tester, account string) (list []string) {
	jobs, err := w.queue.Jobs(t.Context(), queue.Filter{LimitKey: "gmail:" + account, Limit: 1000})
	require.NoError(t, err)
	for i := range jobs {
		var work struct {
			replies.Work
			Action replies.CleanupAction `json:"action"`
		}
		require.NoError(t, json.Unmarshal(jobs[i].Payload, &work))
		require.Equal(t, []string{account, thread}, []string{work.AccountID, work.ThreadID})
		if work.Action != "" {
			list = append(list, fmt.Sprint(jobs[i].Type, work.Need, work.Action))
		} else {
			list = append(list, fmt.Sprint(jobs[i].Type, work.Need, work.Turn))
		}
	}
	return list
}

func (w world) write(t *testing.T, fn func(ctx context.Context, tx queue.Tx) (bool, error)) (changed bool) {
	t.Helper()
	require.NoError(t, w.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) (err error) {
		changed, err = fn(ctx, tx)
		return err
	}))
	return changed
}

func (w world) needed(ctx context.Context, tx queue.Tx) (bool, error) {
	return w.store.Needed(ctx, tx, account, thread, "m1")
}

// event returns one of the store's events with a cause.
func event(call func(context.Context, queue.Tx, string, string, string) (bool, error), cause string) func(
	context.Context, queue.Tx) (bool, error) {
	return func(ctx context.Context, tx queue.Tx) (bool, error) { return call(ctx, tx, account, thread, cause) }
}

// result returns one of the store's results of the present work.
func (w world) result(t *testing.T, call func(context.Context, queue.Tx, replies.Work) (bool, error)) bool {
	r, err := w.store.Reply(t.Context(), account, thread)
	require.NoError(t, err)
	return w.write(t, func(ctx context.Context, tx queue.Tx) (bool, error) {
		return call(ctx, tx, replies.Work{AccountID: account, ThreadID: thread, Need: r.Need, Turn: r.Turn})
	})
}

func TestTheFourthReworkIsAPersons(t *testing.T) {
	eachWorld(t, func(t *testing.T, w world) {
		require.True(t, w.write(t, w.needed))
		require.True(t, w.result(t, w.store.Drafted))
		for i := range replies.MaxReworks {
			require.True(t, w.write(t, event(w.store.Rework, strconv.Itoa(i))))
			require.False(t, w.result(t, w.store.GaveUp), "there may be another")
			require.True(t, w.result(t, w.store.Reworked))
		}
		require.True(t, w.write(t, event(w.store.Rework, "fourth")))
		require.False(t, w.result(t, w.store.Reworked))
		require.True(t, w.result(t, w.store.GaveUp))
		r, err := w.store.Reply(t.Context(), account, thread)
		require.NoError(t, err)
		require.Equal(t, replies.Skipped, r.State)
		require.Contains(t, r.Reason, "3 times")
		history, err := w.store.History(t.Context(), account, thread)
		require.NoError(t, err)
		require.Equal(t, r.Reason, history[len(history)-1].Reason)
	})
}

// A Rework label that is reported again beside a draft was put on before there was one.
func TestACauseCountsOnceEvenIfItDidNothing(t *testing.T) {
	eachWorld(t, func(t *testing.T, w world) {
		require.False(t, w.write(t, event(w.store.Rework, "history 7")))
		_, err := w.store.Reply(t.Context(), account, thread)
		require.ErrorIs(t, err, postroom.ErrNotFound, "a label is no need")
		w.write(t, w.needed)
		require.True(t, w.result(t, w.store.Drafted))
		require.False(t, w.write(t, event(w.store.Rework, "history 7")))
		require.True(t, w.write(t, event(w.store.Rework, "history 8")))
		require.ElementsMatch(t, []string{"draft1 1", "rework1 2"}, w.jobsOf(t, account))
	})
}

func TestANewerTurnRefusesTheResultOfAnOlder(t *testing.T) {
	eachWorld(t, func(t *testing.T, w world) {
		w.write(t, w.needed)
		w.result(t, w.store.Drafted)
		w.write(t, event(w.store.Rework, "make it shorter"))
		first, err := w.store.Reply(t.Context(), account, thread)
		require.NoError(t, err)
		old := replies.Work{AccountID: account, ThreadID: thread, Need: first.Need, Turn: first.Turn}
		_, current, err := w.store.Current(t.Context(), old)
		require.NoError(t, err)
		require.True(t, current)
		w.write(t, event(w.store.Rework, "no, longer"))
		_, current, err = w.store.Current(t.Context(), old)
		require.NoError(t, err)
		require.False(t, current)
		require.False(t, w.write(t, func(ctx context.Context, tx queue.Tx) (bool, error) {
			return w.store.Reworked(ctx, tx, old)
		}))
		require.True(t, w.result(t, w.store.Reworked))
		last, err := w.store.Reply(t.Context(), account, thread)
		require.NoError(t, err)
		_, current, err = w.store.Current(t.Context(), replies.Work{AccountID: account, ThreadID: thread, Need: last.Need,
			Turn: last.Turn})
		require.NoError(t, err)
		require.False(t, current, "its result is recorded")
	})
}

// The draft of an earlier need is not that of the next, also for package outbox, which makes one for each key.
func TestANewNeedHasADraftOfItsOwn(t *testing.T) {
	eachWorld(t, func(t *testing.T, w world) {
		w.write(t, w.needed)
		before, err := w.store.Reply(t.Context(), account, thread)
		require.NoError(t, err)
		w.write(t, event(w.store.Done, "done"))
		require.False(t, w.write(t, w.needed), "the message is answered for")
		require.True(t, w.write(t, event(w.store.Needed, "m2")))
		after, err := w.store.Reply(t.Context(), account, thread)
		require.NoError(t, err)
		require.Equal(t, "m2", after.MessageID)
		require.NotEqual(t, before.DraftKey(), after.DraftKey())
		require.False(t, w.write(t, func(ctx context.Context, tx queue.Tx) (bool, error) {
			return w.store.Sent(ctx, tx, account, thread, before.Need, "late", "")
		}))
	})
}

func TestAChangeItsHistoryAndItsJobAreOne(t *testing.T) {
	eachWorld(t, func(t *testing.T, w world) {
		fault := errors.New("the caller fails")
		require.ErrorIs(t, w.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			changed, err := w.needed(ctx, tx)
			require.True(t, changed)
			return errors.Join(err, fault)
		}), fault)
		require.Empty(t, w.jobsOf(t, account))
		history, err := w.store.History(t.Context(), account, thread)
		require.NoError(t, err)
		require.Empty(t, history)
		require.True(t, w.write(t, w.needed), "the cause was not spent")
	})
}

func TestOfEventsAtOnceEachCountsOnce(t *testing.T) {
	eachWorld(t, func(t *testing.T, w world) {
		var group sync.WaitGroup
		for i := range 12 {
			group.Go(func() {
				err := w.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
					_, err := w.store.Needed(ctx, tx, account, thread, fmt.Sprint("m", i%3))
					return err
				})
				if err != nil {
					t.Errorf("needed: %v", err)
				}
			})
		}
		group.Wait()
		require.ElementsMatch(t, []string{"draft1 1", "draft1 2", "draft1 3"}, w.jobsOf(t, account))
	})
}

func TestListAndForget(t *testing.T) {
	eachWorld(t, func(t *testing.T, w world) {
		w.write(t, w.needed)
		w.write(t, func(ctx context.Context, tx queue.Tx) (bool, error) {
			return w.store.NotNeeded(ctx, tx, "grace", thread, "m1", "a newsletter")
		})
		list := func(account string, state replies.State) []replies.Reply {
			f := replies.Filter{AccountID: account, States: []replies.State{state}, Limit: 10}
			found, _, err := w.store.List(t.Context(), f)
			require.NoError(t, err)
			return found
		}
		require.Len(t, list(account, replies.Pending), 1)
		require.Empty(t, list(account, replies.Skipped))
		require.Equal(t, "a newsletter", list("grace", replies.Skipped)[0].Reason)
		require.NoError(t, w.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			return w.store.Forget(ctx, tx, account)
		}))
		require.Empty(t, list(account, replies.Pending))
		history, err := w.store.History(t.Context(), account, thread)
		require.NoError(t, err)
		require.Empty(t, history)
		require.Len(t, list("grace", replies.Skipped), 1)
		w.write(t, event(w.store.Rework, "history 7"))
		require.Empty(t, list(account, ""), "a label is no reply")
		for _, limit := range []int{-1, 0, 1001} {
			_, _, err := w.store.List(t.Context(), replies.Filter{AccountID: account, Limit: limit})
			require.ErrorContains(t, err, "within 1 and 1000")
		}
	})
}

// A list goes on where its page before has ended, over the accounts, and counts the same.
func TestAListHasPages(t *testing.T) {
	eachWorld(t, func(t *testing.T, w world) {
		for i := range 7 {
			w.write(t, func(ctx context.Context, tx queue.Tx) (bool, error) {
				return w.store.NotNeeded(ctx, tx, fmt.Sprint("account", i%2), fmt.Sprint("t", i), "m1", "a newsletter")
			})
		}
		pages := func(f replies.Filter) (seen []string) {
			for {
				list, next, err := w.store.List(t.Context(), f)
				require.NoError(t, err)
				for _, r := range list {
					seen = append(seen, r.ThreadID)
				}
				if f.Before = next; next == "" {
					return seen
				}
				require.Len(t, list, f.Limit)
			}
		}
		require.Equal(t, []string{"t6", "t5", "t4", "t3", "t2", "t1", "t0"}, pages(replies.Filter{Limit: 2}))
		require.Equal(t, []string{"t5", "t3", "t1"}, pages(replies.Filter{AccountID: "account1", Limit: 3,
			States: []replies.State{replies.Skipped, replies.Sent}}))
		require.Empty(t, pages(replies.Filter{States: []replies.State{replies.Sent}, Limit: 1}))
		counts, err := w.store.Count(t.Context(), "")
		require.NoError(t, err)
		require.Equal(t, map[replies.State]int{replies.Skipped: 7}, counts)
		counts, err = w.store.Count(t.Context(), "account1")
		require.NoError(t, err)
		require.Equal(t, map[replies.State]int{replies.Skipped: 3}, counts)
		for _, cursor := range []string{"t3", "!", "YQpiCmM"} {
			_, _, err := w.store.List(t.Context(), replies.Filter{Before: cursor, Limit: 1})
			require.ErrorIs(t, err, replies.ErrCursor, cursor)
		}
	})
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	_, err := replies.New(replies.Config{})
	require.ErrorContains(t, err, "Config.DB")
	require.ErrorContains(t, err, "Config.Queue")
	w := newWorld(t, dbtest.SQLite(t))
	for name, call := range map[string]func(ctx context.Context, tx queue.Tx) (bool, error){
		"the cause has 0 bytes":   event(w.store.Rework, ""),
		"the cause has 201 bytes": event(w.store.Done, strings.Repeat("x", 201)),
		"or the thread is empty": func(ctx context.Context, tx queue.Tx) (bool, error) {
			return w.store.Needed(ctx, tx, account, "", "m1")
		},
		"the need is 0": func(ctx context.Context, tx queue.Tx) (bool, error) {
			return w.store.Drafted(ctx, tx, replies.Work{AccountID: account, ThreadID: thread})
		},
		"the turn is 0": func(ctx context.Context, tx queue.Tx) (bool, error) {
			return w.store.Drafted(ctx, tx, replies.Work{AccountID: account, ThreadID: thread, Need: 1})
		},
	} {
		require.ErrorContains(t, w.db.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := call(ctx, tx)
			return err
		}), name)
	}
}
