package safety

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jmoiron/sqlx"
)

// A snapshot is one state of the database, and what was seen of the log before: what is seen later, it may not have.
type snapshot struct {
	*sqlx.Tx
	ends     []AuditHead
	accepted acceptance
	unknown  error // why it cannot be told what was seen
}

// snapshot runs fn on one state of the database.
func (l *Ledger) snapshot(ctx context.Context, fn func(tx *snapshot) error) error {
	var s snapshot
	var err error
	s.ends, s.accepted, s.unknown = l.kept()
	s.Tx, err = l.cfg.DB.Reader().BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return err
	}
	return errors.Join(fn(&s), s.Rollback())
}
