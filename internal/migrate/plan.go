package migrate

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
)

// A Step is a migration of a package.
type Step struct {
	Version int
	Name    string // of its file
	Applied bool
	// SQL is the script of one that has not been applied, with the record that it has.
	SQL string
}

// Plan returns all migrations under files/migrations/dialect, in order. It only reads. It refuses a database that Up
// refuses for its version.
func Plan[T Tx](ctx context.Context, db DB[T], dialect, pkg string, files fs.FS) ([]Step, error) {
	return PlanIn(ctx, db, Place{}, dialect, pkg, files)
}

// PlanIn is Plan for tables in a place of their own, where the files put them.
func PlanIn[T Tx](ctx context.Context, db DB[T], in Place, dialect, pkg string, files fs.FS) ([]Step, error) {
	migrations, err := load(files, dialect)
	if err != nil {
		return nil, fmt.Errorf("migrate %s: %w", pkg, err)
	}
	at, err := in.readVersion(ctx, db.Reader(), dialect, pkg)
	if err != nil {
		return nil, fmt.Errorf("migrate %s: read version: %w", pkg, err)
	}
	if _, err := at.pending(migrations, pkg); err != nil {
		return nil, err
	}
	steps := make([]Step, len(migrations))
	for i, m := range migrations {
		steps[i] = Step{Version: m.version, Name: m.name, Applied: m.version <= at.version}
		if !steps[i].Applied {
			steps[i].SQL = in.script(pkg, m, !at.exists && i == 0)
		}
	}
	return steps, nil
}

// script is a migration with what Up writes beside it. begins says that the table of migrations is to be made.
func (in Place) script(pkg string, m migration, begins bool) string {
	var b strings.Builder
	if begins {
		b.WriteString(strings.TrimSpace(in.sql(createTable)) + ";\n\n")
	}
	b.WriteString(strings.TrimSpace(m.sql) + "\n\n")
	fmt.Fprintf(&b, in.sql("INSERT INTO postroom_migrations (package, version, name) VALUES ('%s', %d, '%s');\n"), pkg,
		m.version, m.name)
	return b.String()
}
