package sqlite

import (
	"context"
	"database/sql"
)

// ClaimStatements are those that look for jobs to claim.
var ClaimStatements = map[string]string{
	"of one type": selectClaimable, "of several types": readReady, "of limit keys": readWaiting, "of fronts": readFronts,
}

// CheckVersion is for the tests.
var CheckVersion = checkVersion

// ExecOnWriter executes what cannot be executed in a transaction. Nothing else may be written meanwhile.
func ExecOnWriter(db *DB, statement string) (sql.Result, error) {
	return db.writer.conn.ExecContext(context.Background(), statement)
}
