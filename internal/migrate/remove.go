package migrate

import (
	"context"
	"errors"
	"fmt"
)

// ErrNone reports that a package has no tables in the database.
var ErrNone = errors.New("there are no tables of the package")

const (
	deleteVersions = `DELETE FROM postroom_migrations WHERE package = $1`
	hasVersions    = `SELECT EXISTS (SELECT 1 FROM postroom_migrations)`
	dropTable      = `DROP TABLE postroom_migrations`
)

// Remove runs the statements, which remove what the migrations have made, and then removes the record of these, in the
// caller's write transaction. check may refuse. If there is no record it returns [ErrNone].
func Remove(
	ctx context.Context, tx Tx, in Place, dialect, pkg string, statements []string, check func(context.Context) error,
) error {
	if dialect == postgres {
		if _, err := tx.ExecContext(ctx, lockPostgres); err != nil {
			return fmt.Errorf("lock: %w", err)
		}
	}
	at, err := in.readVersion(ctx, tx, dialect, pkg)
	switch {
	case err != nil:
		return fmt.Errorf("read version: %w", err)
	case at.outdated:
		return ErrOutdated
	case at.version == 0:
		return ErrNone
	}
	if err := check(ctx); err != nil {
		return err
	}
	for _, statement := range statements {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%w\n%s", err, statement)
		}
	}
	if _, err := tx.ExecContext(ctx, in.sql(deleteVersions), pkg); err != nil {
		return err
	}
	var others bool
	if err := tx.QueryRowContext(ctx, in.sql(hasVersions)).Scan(&others); err != nil || others {
		return err
	}
	_, err = tx.ExecContext(ctx, in.sql(dropTable))
	return err
}
