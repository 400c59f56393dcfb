package replies

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
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
	CreatedAt     dbtime.Time `db:"created_at"`
	UpdatedAt     dbtime.Time `db:"updated_at"`
}

func (r *replyRow) reply() Reply {
	return Reply{
		AccountID: r.AccountID, ThreadID: r.ThreadID, MessageID: r.MessageID, SentMessageID: r.SentMessageID,
		State: r.State, Reason: r.Reason, Need: r.Need, Turn: r.Turn, Reworks: r.Reworks,
		CreatedAt: r.CreatedAt.Time, UpdatedAt: r.UpdatedAt.Time,
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
	var row replyRow
	err := dbquery.Get(ctx, s.cfg.DB.Reader(), &row, sqlReply, accountID, threadID)
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

// maxListing is the most replies that are listed at once.
const maxListing = 1000

// List returns the replies of an account in a state, the latest change first, at most limit, which must be within 1
// and 1000.
func (s *Store) List(ctx context.Context, accountID string, state State, limit int) ([]Reply, error) {
	if limit < 1 || limit > maxListing {
		return nil, fmt.Errorf("replies: list account %s: the limit is %d; it must be within 1 and %d", accountID, limit,
			maxListing)
	}
	var rows []replyRow
	if err := dbquery.Select(ctx, s.cfg.DB.Reader(), &rows, sqlList, accountID, state, limit); err != nil {
		return nil, fmt.Errorf("replies: list account %s: %w", accountID, err)
	}
	list := make([]Reply, len(rows))
	for i := range rows {
		list[i] = rows[i].reply()
	}
	return list, nil
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
