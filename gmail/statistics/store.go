package statistics

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

//go:embed marking
var marking embed.FS

const giveDB = "a database opened with queue/sqlite or queue/postgres"

// Migrate creates the tables of this package, or brings them up to date, and the triggers on the tables of packages
// mailstore, safety, llm/enrich and rules/lessons, which must have been migrated before. If a trigger was missing, all
// days of all accounts are marked. Call it at every start; several processes may do so at once.
func Migrate(ctx context.Context, db queue.DB) error {
	if err := fields.Required("statistics: Migrate: db", db, giveDB); err != nil {
		return err
	}
	dialect := string(db.Dialect())
	if err := migrate.Up(ctx, db, dialect, "gmail/statistics", migrations); err != nil {
		return err
	}
	wanted, err := markers(dialect)
	if err != nil {
		return err
	}
	if there, err := existing(ctx, db.Reader(), dialect); err != nil || slices.Equal(there, names(wanted)) {
		return err
	}
	err = db.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return mark(ctx, tx, dialect, wanted) })
	if err != nil {
		return fmt.Errorf("statistics: create the triggers that mark what is changed; migrate mailstore, safety, llm/enrich "+
			"and rules/lessons before: %w", err)
	}
	return nil
}

// A marker is a trigger or an index, or on PostgreSQL a function of a trigger.
type marker struct{ kind, name, table, statement string }

func (m marker) isFunction() bool { return m.kind == "FUNCTION" }

// markers are the statements of a file in marking.
func markers(dialect string) (list []marker, err error) {
	text, err := marking.ReadFile("marking/" + dialect + ".sql")
	if err != nil {
		return nil, fmt.Errorf("statistics: no triggers for this database: %w", err)
	}
	for statement := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		words := strings.Fields(strings.Replace(statement, "OR REPLACE ", "", 1))
		if words[0] != "CREATE" {
			continue // the comment
		}
		m := marker{kind: words[1], name: words[2], statement: statement}
		if on := slices.Index(words, "ON"); on > 0 {
			m.table = words[on+1]
		}
		list = append(list, m)
	}
	return list, nil
}

// names are those of the triggers and indexes, in their order.
func names(list []marker) (names []string) {
	for _, m := range list {
		if !m.isFunction() {
			names = append(names, m.name)
		}
	}
	slices.Sort(names)
	return names
}

// existing returns the names of the triggers and indexes that are there, in their order.
func existing(ctx context.Context, q dbquery.Querier, dialect string) (names []string, err error) {
	query := sqlMarkersSQLite
	if dialect == postgres {
		query = sqlMarkersPostgres
	}
	if err := dbquery.Select(ctx, q, &names, query); err != nil {
		return nil, fmt.Errorf("statistics: look for the triggers: %w", err)
	}
	slices.Sort(names)
	return names, nil
}

const postgres = "postgres"

// mark creates the triggers that are missing, and marks all days if one was.
func mark(ctx context.Context, tx queue.Tx, dialect string, wanted []marker) error {
	if dialect == postgres { // another process may do the same
		if _, err := dbquery.Exec(ctx, tx, sqlLockMarkers); err != nil {
			return err
		}
	}
	there, err := existing(ctx, tx, dialect)
	if err != nil || slices.Equal(there, names(wanted)) {
		return err
	}
	for _, m := range wanted {
		if slices.Contains(there, m.name) && !m.isFunction() {
			continue
		}
		if _, err := dbquery.Exec(ctx, tx, m.statement); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	_, err = dbquery.Exec(ctx, tx, sqlMarkAll)
	return err
}

// Config configures a [Store]. It is copied and checked once, by [New].
type Config struct {
	// DB holds the tables. Required; [Migrate] must have prepared it.
	DB queue.DB
}

// A Store counts, and reads what was counted. It is safe for concurrent use. [New] makes one.
type Store struct{ db queue.DB }

// New makes a store; a missing field is an error that names it.
func New(cfg Config) (*Store, error) {
	if err := fields.Required("statistics: Config.DB", cfg.DB, giveDB); err != nil {
		return nil, err
	}
	return &Store{db: cfg.DB}, nil
}

// Forget removes what was counted of an account in the caller's transaction. Call it when the account is being removed,
// after [mailstore.Store.StartRemoval] was committed, as a package that removes mailboxes does: nothing is counted of
// such an account any more.
//
// [mailstore.Store.StartRemoval]: https://pkg.go.dev/github.com/postroom-go/postroom/gmail/mailstore#Store.StartRemoval
func Forget(ctx context.Context, tx queue.Tx, accountID string) error {
	// The row is locked first, so that what is just written of the account is deleted, too.
	_, err := dbquery.Exec(ctx, tx, sqlLockAccount, accountID, dbNow(tx))
	for _, statement := range []string{sqlForgetRows, sqlForgetMarks, sqlForgetAccount} {
		if err == nil {
			_, err = dbquery.Exec(ctx, tx, statement, accountID)
		}
	}
	if err != nil {
		return fmt.Errorf("statistics: forget account %s: %w", accountID, err)
	}
	return nil
}
