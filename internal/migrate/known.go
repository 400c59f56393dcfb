package migrate

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/jmoiron/sqlx"
)

const selectVersions = `
SELECT package, MAX(version), COALESCE(MIN(CASE WHEN version = 1 THEN name END), '')
FROM postroom_migrations
GROUP BY package`

// known is what a database had when its record of migrations was read.
type known struct {
	reader   *sqlx.DB
	nothing  applied // of a package without migrations
	packages map[string]applied
}

type knownKey struct{}

// WithKnown reads at once what all packages without a place of their own have in the database. [Up] with the returned
// context and the same database asks for no package that is up to date: for a program of many packages, that is most of
// what a start on a distant server waits for. If the record cannot be read, Up says why.
func WithKnown(ctx context.Context, reader *sqlx.DB, dialect string) context.Context {
	k := known{reader: reader, packages: map[string]applied{}}
	if err := k.read(ctx, dialect); err != nil {
		return ctx
	}
	return context.WithValue(ctx, knownKey{}, k)
}

func (k *known) read(ctx context.Context, dialect string) (err error) {
	k.nothing, err = Place{}.readTable(ctx, k.reader, dialect)
	if err != nil || !k.nothing.exists || k.nothing.outdated {
		return err
	}
	rows, err := k.reader.QueryContext(ctx, selectVersions)
	if err != nil {
		return err
	}
	return scanVersions(rows, k.packages)
}

func scanVersions(rows *sql.Rows, into map[string]applied) error {
	defer rows.Close()
	for rows.Next() {
		at, pkg := applied{exists: true}, ""
		if err := rows.Scan(&pkg, &at.version, &at.first); err != nil {
			return fmt.Errorf("migrate: read versions: %w", err)
		}
		into[pkg] = at
	}
	return rows.Err()
}

// lookUp is readVersion by what the context knows of the database, if it does.
func (in Place) lookUp(ctx context.Context, reader *sqlx.DB, dialect, pkg string) (applied, error) {
	k, ok := ctx.Value(knownKey{}).(known)
	if !ok || k.reader != reader || in != (Place{}) {
		return in.readVersion(ctx, reader, dialect, pkg)
	}
	if at, ok := k.packages[pkg]; ok {
		return at, nil
	}
	return k.nothing, nil
}
