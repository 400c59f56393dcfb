package environment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/queue"
)

// Checkpoint returns the path of the file in which the ledger remembers how far the database has come; empty if there
// is neither a setting nor a folder. Each database has its own file: another would always seem to be put back.
func (s *Environment) Checkpoint(ctx context.Context, db queue.DB) (string, error) {
	database := s.Config.Paths.Database
	switch {
	case s.Config.Safety.SeenFile != "":
		return string(s.Config.Safety.SeenFile), nil
	case s.Folder == "" && (database == "" || database.Postgres()):
		return "", nil
	case database.Postgres():
		id, err := postgresID(ctx, string(database), db)
		return s.Folder.Checkpoint() + "-" + id, err
	case database != "":
		return string(database) + ".checkpoint", nil
	}
	return s.Folder.Checkpoint(), nil
}

// postgresID identifies a schema of a database on a server. The user and the password may change.
func postgresID(ctx context.Context, dsn string, db queue.DB) (string, error) {
	c, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return "", usage.Errorf("paths.database: %w", err)
	}
	var schema string
	if err := db.Reader().GetContext(ctx, &schema, "SELECT COALESCE(current_schema(), '')"); err != nil {
		return "", fmt.Errorf("read the schema of the database: %w", err)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", []string{c.Host, strconv.Itoa(int(c.Port)), c.Database, schema}))
	return hex.EncodeToString(sum[:6]), nil
}
