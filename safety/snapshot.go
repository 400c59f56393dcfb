package safety

import (
	"context"

	"github.com/postroom-go/postroom/internal/dbquery"
)

// A snapshot is one state of the database, and what was seen of the audit log before. It may lack what is seen later.
type snapshot struct {
	dbquery.Tx
	ends     []AuditHead
	accepted acceptance
	unknown  error // why it is not known what was seen
}

// snapshot runs fn on one state of the database.
func (l *Ledger) snapshot(ctx context.Context, fn func(tx *snapshot) error) error {
	var s snapshot
	s.ends, s.accepted, s.unknown = l.kept()
	return dbquery.Snapshot(ctx, l.cfg.DB.Reader(), func(tx dbquery.Tx) error {
		s.Tx = tx
		return fn(&s)
	})
}
