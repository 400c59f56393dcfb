package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
)

// seenFile returns the path of the seen file; empty if there is neither a setting nor a place for one. Each database has its own:
// with the file of another database, an audit log would always seem to be cut.
func (s *site) seenFile() (string, error) {
	database := s.cfg.Paths.Database
	switch {
	case s.cfg.Safety.SeenFile != "":
		return string(s.cfg.Safety.SeenFile), nil
	case database.Postgres() && s.folder != "":
		which, err := whichPostgres(string(database))
		return s.folder.seenFile() + "-" + which, err
	case database.Postgres():
		return "", nil
	case database != "":
		return string(database) + ".seen", nil
	case s.folder == "":
		return "", nil
	}
	return s.folder.seenFile(), nil
}

// whichPostgres returns an identifier of a database and its schema that does not depend on the password or the spelling of the
// URL.
func whichPostgres(dsn string) (string, error) {
	c, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return "", usage("paths.database: %w", err)
	}
	about := fmt.Sprintf("%q", []string{c.Host, strconv.Itoa(int(c.Port)), c.Database, c.User, c.RuntimeParams["search_path"], c.RuntimeParams["options"]})
	sum := sha256.Sum256([]byte(about))
	return hex.EncodeToString(sum[:6]), nil
}
