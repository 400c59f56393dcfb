package enrich

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

const giveDB = "a database opened with queue/sqlite or queue/postgres"

// Migrate creates the table of this package, enrichments, or brings it up to date. Call it at every start; several
// processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("llm/enrich: Migrate: db", db, giveDB); err != nil {
		return err
	}
	return migrate.Up(ctx, db, string(db.Dialect()), "llm/enrich", migrations)
}

// A Store reads enrichments. It is safe for concurrent use. [NewStore] makes one; the zero Store is unusable.
type Store struct{ db queue.DB }

// NewStore makes a store on a database that [Migrate] has prepared.
func NewStore(db queue.DB) (*Store, error) {
	if err := fields.Required("llm/enrich: NewStore: db", db, giveDB); err != nil {
		return nil, err
	}
	return &Store{db}, nil
}

// Get returns the enrichment of a message, or [postroom.ErrNotFound].
func (s *Store) Get(ctx context.Context, accountID, messageID string) (*Enrichment, error) {
	return get(ctx, s.db.Reader(), sqlGet, accountID, messageID)
}

// A Filter chooses enrichments of one mailbox. Empty fields choose all.
type Filter struct {
	AccountID string // required
	States    []State
	Category  string
	Level     string
	// Unsure chooses what a person may answer, HasActionItems and HasEvent what has one at least.
	Unsure         bool
	HasActionItems bool
	HasEvent       bool
	// After continues a list after its last element: with what was received before, or at the same time.
	After *Enrichment
	// Limit is how many are returned at most. Default 100; bounds: 1 to 1000.
	Limit int
}

// The bounds of Filter.Limit.
const (
	defaultLimit = 100
	maxLimit     = 1000
)

// List returns enrichments, the newest mail first.
func (s *Store) List(ctx context.Context, f Filter) ([]*Enrichment, error) {
	query, args, err := f.query()
	if err != nil {
		return nil, err
	}
	var rows []row
	if err := dbquery.Select(ctx, s.db.Reader(), &rows, query, args...); err != nil {
		return nil, fmt.Errorf("llm/enrich: list: %w", err)
	}
	list := make([]*Enrichment, len(rows))
	for i := range rows {
		if list[i], err = rows[i].enrichment(); err != nil {
			return nil, fmt.Errorf("llm/enrich: list: message %s: %w", rows[i].MessageID, err)
		}
	}
	return list, nil
}

func (f *Filter) query() (query string, args []any, err error) {
	limit := f.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	switch {
	case f.AccountID == "":
		return "", nil, errors.New("llm/enrich: Filter.AccountID is empty; a list is that of one mailbox")
	case limit < 1 || limit > maxLimit:
		return "", nil, fmt.Errorf("llm/enrich: Filter.Limit is %d; it must be from 1 to %d, or 0 for %d", f.Limit, maxLimit,
			defaultLimit)
	}
	query, args = sqlList, []any{f.AccountID}
	value := func(v any) string {
		args = append(args, v)
		return "$" + strconv.Itoa(len(args))
	}
	query += f.conditions(value)
	if f.After != nil {
		query += " AND (received_at, message_id) < (" + value(dbtime.Of(f.After.ReceivedAt)) + ", " +
			value(f.After.MessageID) + ")"
	}
	return query + sqlNewestFirst + strconv.Itoa(limit), args, nil
}

// conditions returns what the fields ask for, each with AND before it. value returns the place of an argument.
func (f *Filter) conditions(value func(any) string) (sql string) {
	if f.Category != "" {
		sql += " AND category = " + value(f.Category)
	}
	if f.Level != "" {
		sql += " AND importance_level = " + value(f.Level)
	}
	if len(f.States) > 0 {
		states := make([]string, len(f.States))
		for i, s := range f.States {
			states[i] = value(string(s))
		}
		sql += " AND state IN (" + strings.Join(states, ", ") + ")"
	}
	if f.Unsure {
		sql += " AND unsure > 0"
	}
	if f.HasActionItems {
		sql += " AND action_count > 0"
	}
	if f.HasEvent {
		sql += " AND event_count > 0"
	}
	return sql
}

// Condition returns what the filter asks for as a condition of SQL about another row of the same database, which says
// in two columns of what account and message it is, such as "m.account_id" and "m.id". Each %s of it is one of the
// arguments. AccountID, After and Limit are not part of it. An empty filter asks for nothing, and its condition is
// empty.
func (f *Filter) Condition(account, message string) (sql string, args []any) {
	asked := f.conditions(func(v any) string {
		args = append(args, v)
		return "%s"
	})
	if asked == "" {
		return "", nil
	}
	return fmt.Sprintf(sqlExists, account, message) + asked + ")", args
}

// maxOf bounds what [Store.Of] is asked about at once.
const maxOf = 1000

// Of returns what is known of messages of an account, at most 1,000, by their ids. Those of which nothing is known are
// left out.
func (s *Store) Of(ctx context.Context, accountID string, messageIDs ...string) (map[string]*Enrichment, error) {
	known := make(map[string]*Enrichment, len(messageIDs))
	switch {
	case len(messageIDs) == 0:
		return known, nil
	case len(messageIDs) > maxOf:
		return nil, fmt.Errorf("llm/enrich: Of: %d messages; ask about %d at most", len(messageIDs), maxOf)
	}
	args, places := []any{accountID}, make([]string, len(messageIDs))
	for i, id := range messageIDs {
		args = append(args, id)
		places[i] = "$" + strconv.Itoa(len(args))
	}
	var rows []row
	query := sqlList + " AND message_id IN (" + strings.Join(places, ", ") + ")"
	if err := dbquery.Select(ctx, s.db.Reader(), &rows, query, args...); err != nil {
		return nil, fmt.Errorf("llm/enrich: read enrichments: %w", err)
	}
	for i := range rows {
		e, err := rows[i].enrichment()
		if err != nil {
			return nil, fmt.Errorf("llm/enrich: message %s: %w", rows[i].MessageID, err)
		}
		known[e.MessageID] = e
	}
	return known, nil
}

// Forget deletes the enrichments of an account, as when it is removed.
func Forget(ctx context.Context, tx queue.Tx, accountID string) error {
	if _, err := dbquery.Exec(ctx, tx, sqlForget, accountID); err != nil {
		return fmt.Errorf("llm/enrich: forget account %s: %w", accountID, err)
	}
	return nil
}

// Prune deletes the enrichments of mail that was received before an instant, and returns their number.
func Prune(ctx context.Context, db queue.DB, before time.Time) (int, error) {
	n, err := dbquery.DeleteInBatches(ctx, db, sqlPrune, dbtime.Of(before))
	if err != nil {
		return n, fmt.Errorf("llm/enrich: prune: %w", err)
	}
	return n, nil
}

func get(ctx context.Context, q dbquery.Querier, query string, args ...any) (*Enrichment, error) {
	var r row
	err := dbquery.Get(ctx, q, &r, query, args...)
	if errors.Is(err, sql.ErrNoRows) {
		err = postroom.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("llm/enrich: read an enrichment: %w", err)
	}
	return r.enrichment()
}

// begin makes the row of a message, unless there is one. answer is what a model has said in the call that decided.
func begin(ctx context.Context, tx queue.Tx, msg *postroom.Message, answer *postroom.ModelAnswer) error {
	now, received := queue.Now(tx), msg.ReceivedAt
	if received.IsZero() {
		received = now
	}
	if answer == nil {
		answer = &postroom.ModelAnswer{}
	}
	if _, err := dbquery.Exec(ctx, tx, sqlInsert, msg.AccountID, msg.ID, dbtime.Of(received), string(StateFetched),
		string(answer.JSON), answer.Calls, answer.Tokens, dbtime.Of(now)); err != nil {
		return fmt.Errorf("llm/enrich: begin with message %s: %w", msg.ID, err)
	}
	return nil
}

// change changes the row of a message.
func change(ctx context.Context, tx queue.Tx, accountID, messageID string, fn func(e *Enrichment) error) (*Enrichment,
	error) {
	e, err := get(ctx, tx, sqlLock, dbtime.Of(queue.Now(tx)), accountID, messageID)
	if err != nil {
		return nil, err
	}
	if err := fn(e); err != nil {
		return nil, err
	}
	values, err := e.values()
	if err == nil {
		_, err = dbquery.Exec(ctx, tx, sqlChange, values...)
	}
	if err != nil {
		return nil, fmt.Errorf("llm/enrich: store what is known of message %s: %w", messageID, err)
	}
	return e, nil
}
