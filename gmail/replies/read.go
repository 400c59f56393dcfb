package replies

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

type replyRow struct {
	AccountID     string      `db:"account_id"`
	ThreadID      string      `db:"thread_id"`
	MessageID     string      `db:"message_id"`
	SentMessageID string      `db:"sent_message_id"`
	State         State       `db:"state"`
	Reason        string      `db:"reason"`
	Need          int64       `db:"need"`
	Turn          int64       `db:"turn"`
	Reworks       int64       `db:"reworks"`
	DraftKey      string      `db:"draft_key"`
	CreatedAt     dbtime.Time `db:"created_at"`
	UpdatedAt     dbtime.Time `db:"updated_at"`
}

func (r *replyRow) reply() Reply {
	return Reply{
		AccountID: r.AccountID, ThreadID: r.ThreadID, MessageID: r.MessageID, SentMessageID: r.SentMessageID,
		State: r.State, Reason: r.Reason, Need: r.Need, Turn: r.Turn, Reworks: r.Reworks,
		CreatedAt: r.CreatedAt.Time, UpdatedAt: r.UpdatedAt.Time, draftKey: r.DraftKey,
	}
}

type changeRow struct {
	Event  Event       `db:"event"`
	From   State       `db:"from_state"`
	To     State       `db:"to_state"`
	Need   int64       `db:"need"`
	Turn   int64       `db:"turn"`
	Reason string      `db:"reason"`
	At     dbtime.Time `db:"at"`
}

// Reply returns the reply of a thread, or [postroom.ErrNotFound].
func (s *Store) Reply(ctx context.Context, accountID, threadID string) (Reply, error) {
	return read(ctx, s.cfg.DB.Reader(), accountID, threadID)
}

// ReplyTx is Reply within a transaction. It locks nothing.
func (s *Store) ReplyTx(ctx context.Context, tx queue.Tx, accountID, threadID string) (Reply, error) {
	return read(ctx, tx, accountID, threadID)
}

func read(ctx context.Context, q dbquery.Querier, accountID, threadID string) (Reply, error) {
	var row replyRow
	err := dbquery.Get(ctx, q, &row, sqlReply, accountID, threadID)
	if errors.Is(err, sql.ErrNoRows) {
		err = postroom.ErrNotFound
	}
	if err != nil {
		return Reply{}, fmt.Errorf("replies: read thread %s: %w", threadID, err)
	}
	return row.reply(), nil
}

// Lock returns the reply of a thread, or [postroom.ErrNotFound], and keeps other transactions from changing it. A
// transaction that gets an error must not be committed.
func (s *Store) Lock(ctx context.Context, tx queue.Tx, accountID, threadID string) (Reply, error) {
	r, err := lock(ctx, tx, accountID, threadID)
	if err == nil && r.State == "" {
		err = postroom.ErrNotFound
	}
	if err != nil {
		return Reply{}, fmt.Errorf("replies: lock thread %s: %w", threadID, err)
	}
	return r, nil
}

// Current returns the reply that a job works for, and whether its turn is the present one and waits for its result. A
// handler completes without work if not. A reply that no longer exists is not current.
func (s *Store) Current(ctx context.Context, w Work) (r Reply, current bool, err error) {
	r, err = s.Reply(ctx, w.AccountID, w.ThreadID)
	if errors.Is(err, postroom.ErrNotFound) {
		return Reply{}, false, nil
	}
	waits := r.State == Pending || r.State == ReworkRequested
	return r, err == nil && waits && r.Need == w.Need && r.Turn == w.Turn, err
}

// A Filter selects replies.
type Filter struct {
	AccountID string  // empty means all
	States    []State // empty means all
	// Before continues a list: what [Store.List] has returned with the page before. Default: the first page.
	Before string
	// Limit is the most replies that are listed, from 1 to 1000. Required.
	Limit int
}

// maxListing is the most replies that are listed at once.
const maxListing = 1000

// ErrCursor is the error of a [Filter].Before that [Store.List] has not returned.
var ErrCursor = errors.New("replies: list: Filter.Before is not what an earlier page has returned")

// List returns replies, the latest change first, and Before of the next page, empty on the last one. A reply that
// changes meanwhile moves to the first page.
func (s *Store) List(ctx context.Context, f Filter) (list []Reply, next string, err error) {
	if f.Limit < 1 || f.Limit > maxListing {
		return nil, "", fmt.Errorf("replies: list: Filter.Limit is %d; it must be within 1 and %d", f.Limit, maxListing)
	}
	where, err := f.where()
	if err != nil {
		return nil, "", err
	}
	query := "SELECT " + columns + "\nFROM replies" + where.Where() +
		"\nORDER BY updated_at DESC, account_id DESC, thread_id DESC\nLIMIT " + where.Arg(f.Limit+1)
	var rows []replyRow
	if err := dbquery.Select(ctx, s.cfg.DB.Reader(), &rows, query, where.Args...); err != nil {
		return nil, "", fmt.Errorf("replies: list: %w", err)
	}
	if len(rows) > f.Limit {
		rows = rows[:f.Limit]
		next = rows[f.Limit-1].cursor()
	}
	list = make([]Reply, len(rows))
	for i := range rows {
		list[i] = rows[i].reply()
	}
	return list, next, nil
}

func (f *Filter) where() (where maildb.Filter, err error) {
	where.Add("state <> ''")
	if f.AccountID != "" {
		where.Add("account_id = %s", f.AccountID)
	}
	if len(f.States) > 0 {
		states := make([]any, len(f.States))
		for i, state := range f.States {
			states[i] = state
		}
		where.Add("state IN ("+strings.Repeat(", %s", len(states))[2:]+")", states...)
	}
	if f.Before == "" {
		return where, nil
	}
	at, account, thread, err := readCursor(f.Before)
	if err == nil {
		where.Add("(updated_at, account_id, thread_id) < (%s, %s, %s)", at, account, thread)
	}
	return where, err
}

// cursor names the place of a reply in a list.
func (r *replyRow) cursor() string {
	text := strings.Join([]string{dbtime.Format(r.UpdatedAt.Time), r.AccountID, r.ThreadID}, "\n")
	return base64.RawURLEncoding.EncodeToString([]byte(text))
}

func readCursor(cursor string) (at dbtime.Time, account, thread string, err error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	parts := strings.Split(string(text), "\n")
	if err != nil || len(parts) != 3 {
		return at, "", "", ErrCursor
	}
	t, err := time.Parse(dbtime.Layout, parts[0])
	if err != nil {
		return at, "", "", ErrCursor
	}
	return dbtime.Of(t), parts[1], parts[2], nil
}

// Count counts the replies of an account by their states; of all accounts, for an empty id.
func (s *Store) Count(ctx context.Context, accountID string) (map[State]int, error) {
	f := Filter{AccountID: accountID}
	where, err := f.where()
	if err != nil {
		return nil, err
	}
	var rows []struct {
		State State `db:"state"`
		N     int   `db:"n"`
	}
	query := "SELECT state, COUNT(*) AS n\nFROM replies" + where.Where() + "\nGROUP BY state"
	if err := dbquery.Select(ctx, s.cfg.DB.Reader(), &rows, query, where.Args...); err != nil {
		return nil, fmt.Errorf("replies: count: %w", err)
	}
	counts := make(map[State]int)
	for _, r := range rows {
		counts[r.State] = r.N
	}
	return counts, nil
}

// History returns what has happened to the reply of a thread, oldest first.
func (s *Store) History(ctx context.Context, accountID, threadID string) ([]Change, error) {
	var rows []changeRow
	if err := dbquery.Select(ctx, s.cfg.DB.Reader(), &rows, sqlHistory, accountID, threadID); err != nil {
		return nil, fmt.Errorf("replies: history of thread %s: %w", threadID, err)
	}
	list := make([]Change, len(rows))
	for i, r := range rows {
		list[i] = Change{r.Event, r.From, r.To, r.Need, r.Turn, r.Reason, r.At.Time}
	}
	return list, nil
}
