package unsubscribe

import (
	"context"
	"database/sql"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

// Migrate creates the tables of this package, or brings them up to date. Call it at every start; several processes may
// do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("unsubscribe: Migrate: db", db, giveDB); err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "gmail/unsubscribe", migrations)
}

const giveDB = "a database opened with queue/sqlite or queue/postgres"

// A Record is a list that was left, or that is about to be.
type Record struct {
	ActionID  string
	AccountID string
	MessageID string // ours
	Sender    string // its address in lower case
	ListID    string // empty if the message does not say
	Way       Way
	Target    string    // the host that was asked, or the address that was written to
	AskedAt   time.Time // when it was first tried
	LeftAt    time.Time // when the request was taken; zero if it was not, or not yet
}

type row struct {
	ActionID  string      `db:"action_id"`
	AccountID string      `db:"account_id"`
	MessageID string      `db:"message_id"`
	Sender    string      `db:"sender"`
	ListID    string      `db:"list_id"`
	Way       Way         `db:"way"`
	Target    string      `db:"target"`
	AskedAt   dbtime.Time `db:"asked_at"`
	LeftAt    dbtime.Time `db:"left_at"`
}

func (r *row) record() Record {
	return Record{r.ActionID, r.AccountID, r.MessageID, r.Sender, r.ListID, r.Way, r.Target, r.AskedAt.Time, r.LeftAt.Time}
}

// day is what PerDay counts: that much time before now.
const day = 24 * time.Hour

// asking is how long others wait for an action that asks the same list, which may still be under way.
const asking = 5 * time.Minute

// A room says whether a list is asked now.
type room struct {
	left  bool      // it was left, by this action or by another since the message came
	until time.Time // when to look again; zero: it is asked now
	why   string
}

// reserve records that a list is about to be left, which counts for the day. If there were enough, or another action is
// asking the same list, it returns when to look again. An action that is recorded has its room.
func (l *Leaver) reserve(ctx context.Context, r Record, received time.Time) (found room, err error) {
	if l.cfg.DB == nil {
		return found, nil
	}
	err = l.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		found = room{}
		if _, err := dbquery.Exec(ctx, tx, sqlLock, r.AccountID); err != nil {
			return err
		}
		own, now := row{}, queue.Now(tx)
		err := dbquery.Get(ctx, tx, &own, sqlRecord, r.ActionID)
		if err == nil || !errors.Is(err, sql.ErrNoRows) {
			found.left = !own.LeftAt.IsZero()
			return err
		}
		if found, err = l.roomFor(ctx, tx, r, received, now); err != nil || found != (room{}) {
			return err
		}
		_, err = dbquery.Exec(ctx, tx, sqlInsert, r.ActionID, r.AccountID, r.MessageID, r.Sender, r.ListID, string(r.Way),
			r.Target, dbtime.Of(now))
		return err
	})
	if err != nil {
		err = fmt.Errorf("unsubscribe: record action %s: %w", r.ActionID, err)
	}
	return found, err
}

// roomFor looks at what other actions have done: a list that was left after the message came is not left again.
func (l *Leaver) roomFor(ctx context.Context, tx queue.Tx, r Record, received, now time.Time) (room, error) {
	if received.IsZero() {
		received = time.Unix(0, 0) // of what is not known, any time counts
	}
	var others []row
	err := dbquery.Select(ctx, tx, &others, sqlOfList, r.AccountID, r.Sender, r.ListID, dbtime.Of(received))
	if err != nil {
		return room{}, err
	}
	for i := range others {
		if !others[i].LeftAt.IsZero() {
			return room{left: true}, nil
		}
	}
	if len(others) > 0 && now.Sub(others[0].AskedAt.Time) < asking {
		return room{until: others[0].AskedAt.Add(asking), why: "another action is leaving the same list"}, nil
	}
	asked, err := askedSince(ctx, tx, r.AccountID, now, l.cfg.PerDay)
	if err == nil && len(asked) == l.cfg.PerDay {
		return room{until: asked[len(asked)-1].Add(day),
			why: fmt.Sprintf("%d lists were left within a day", l.cfg.PerDay)}, nil
	}
	return room{}, err
}

// askedSince returns when lists were asked within the day before now, the newest first, at most that many.
func askedSince(ctx context.Context, q dbquery.Querier, accountID string, now time.Time, most int) (
	[]time.Time, error) {
	var times []dbtime.Time
	err := dbquery.Select(ctx, q, &times, sqlAskedSince, accountID, dbtime.Of(now.Add(-day)), most)
	list := make([]time.Time, len(times))
	for i, at := range times {
		list[i] = at.Time
	}
	return list, err
}

// left records that a list was left. It does so at once: what is asked cannot be unasked, whatever becomes of the
// action.
func (l *Leaver) left(ctx context.Context, actionID string) error {
	if l.cfg.DB == nil {
		return nil
	}
	err := l.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := dbquery.Exec(ctx, tx, sqlLeft, actionID, dbtime.Of(queue.Now(tx)))
		return err
	})
	if err != nil {
		err = fmt.Errorf("unsubscribe: record that action %s has left its list: %w", actionID, err)
	}
	return err
}

// errNoDB reports a leaver that keeps nothing.
var errNoDB = errors.New("unsubscribe: nothing is kept without Config.DB")

// Records returns the lists of an account that were left or are about to be, those that were asked last first, at most
// limit.
func (l *Leaver) Records(ctx context.Context, accountID string, limit int) ([]Record, error) {
	if l.cfg.DB == nil {
		return nil, errNoDB
	}
	var rows []row
	if err := dbquery.Select(ctx, l.cfg.DB.Reader(), &rows, sqlNewest, accountID, limit); err != nil {
		return nil, fmt.Errorf("unsubscribe: list what was left: %w", err)
	}
	list := make([]Record, len(rows))
	for i := range rows {
		list[i] = rows[i].record()
	}
	return list, nil
}

// ErrCursor is the error of a cursor that [Leaver.Lists] has not returned.
var ErrCursor = errors.New("unsubscribe: list what was left: the cursor is not what an earlier page has returned")

// Lists returns the lists of an account that were left or are about to be, each once, with what was asked of it last:
// those that were asked last first, at most limit. Next continues the list as before; it is empty on the last page, and
// an empty before is the first one.
func (l *Leaver) Lists(ctx context.Context, accountID, before string, limit int) (
	list []Record, next string, err error) {
	if l.cfg.DB == nil {
		return nil, "", errNoDB
	}
	at, id, err := readCursor(before)
	if err != nil {
		return nil, "", err
	}
	var rows []row
	if err := dbquery.Select(ctx, l.cfg.DB.Reader(), &rows, sqlLists, accountID, at, id, limit+1); err != nil {
		return nil, "", fmt.Errorf("unsubscribe: list what was left: %w", err)
	}
	if len(rows) > limit {
		rows = rows[:limit]
		next = rows[limit-1].cursor()
	}
	list = make([]Record, len(rows))
	for i := range rows {
		list[i] = rows[i].record()
	}
	return list, next, nil
}

// cursor names the place of a record in a list.
func (r *row) cursor() string {
	return base64.RawURLEncoding.EncodeToString([]byte(dbtime.Format(r.AskedAt.Time) + "\n" + r.ActionID))
}

// readCursor reads the place after which a list goes on: an empty cursor is before all records.
func readCursor(cursor string) (at dbtime.Time, actionID string, err error) {
	if cursor == "" {
		return dbtime.Of(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)), "", nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	stamp, actionID, found := strings.Cut(string(text), "\n")
	if err != nil || !found {
		return at, "", ErrCursor
	}
	t, err := time.Parse(dbtime.Layout, stamp)
	if err != nil {
		return at, "", ErrCursor
	}
	return dbtime.Of(t), actionID, nil
}

// Room returns how many lists of an account may be left now, and the limit of a day.
func (l *Leaver) Room(ctx context.Context, accountID string) (room, perDay int, err error) {
	if l.cfg.DB == nil {
		return 0, 0, errNoDB
	}
	asked, err := askedSince(ctx, l.cfg.DB.Reader(), accountID, time.Now(), l.cfg.PerDay)
	if err != nil {
		return 0, 0, fmt.Errorf("unsubscribe: count what was left: %w", err)
	}
	return l.cfg.PerDay - len(asked), l.cfg.PerDay, nil
}

// Forget removes what is kept of an account, in the caller's transaction.
func Forget(ctx context.Context, tx queue.Tx, accountID string) error {
	for _, statement := range []string{sqlForget, sqlForgetCount} {
		if _, err := dbquery.Exec(ctx, tx, statement, accountID); err != nil {
			return fmt.Errorf("unsubscribe: forget account %s: %w", accountID, err)
		}
	}
	return nil
}
