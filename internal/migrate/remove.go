package migrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// ErrNone reports that a package has no tables in the database.
var ErrNone = errors.New("there are no tables of the package")

const (
	deleteVersions = `DELETE FROM postroom_migrations WHERE package = $1`
	hasVersions    = `SELECT EXISTS (SELECT 1 FROM postroom_migrations)`
	dropTable      = `DROP TABLE postroom_migrations`
)

// Remove runs the statements, which remove what the migrations of files have made, and then removes the record of
// these, in the caller's write transaction. check may refuse. If there is no record it returns [ErrNone]. What a
// migration that is none of these has made would be left behind: that is an error.
func Remove(ctx context.Context, tx Tx, in Place, dialect, pkg string, files fs.FS, statements []string,
	check func(context.Context) error,
) error {
	migrations, err := load(files, dialect)
	if err != nil {
		return err
	}
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
	if _, err := at.pending(migrations, pkg); err != nil {
		return err
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
