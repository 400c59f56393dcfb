package safety

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/audit"
	"github.com/postroom-go/postroom/safety/events"
)

// Remember checks that the database is not behind what [Config].Checkpoint remembers, and remembers how far it has
// come. Call it when a program begins, every second or so, and when it ends; the start of an action that cannot be
// undone is remembered without that. The error is [checkpoint.ErrRestored], or a [*postroom.HeldError] if the
// checkpoint cannot be used: then no action starts that cannot be undone.
func (l *Ledger) Remember(ctx context.Context) error {
	db, head := l.cfg.DB.Reader(), ""
	if l.cfg.Audit != nil {
		logged, err := l.cfg.Audit.Head(ctx, db)
		if err != nil {
			return err
		}
		if logged.Entries > 0 {
			head = logged.String()
		}
	}
	return l.checkpoint.Remember(ctx, db, head)
}

// logged returns what looks for a remembered head in the log; nil without a log.
func logged(log AuditLog) func(ctx context.Context, q audit.Querier, text string) (bool, error) {
	if log == nil {
		return nil
	}
	return func(ctx context.Context, q audit.Querier, text string) (bool, error) {
		head, err := audit.ParseHead(text)
		if err != nil {
			return false, err
		}
		return log.Has(ctx, q, head)
	}
}

// AcceptRestore accepts a database that was put back ([checkpoint.ErrRestored]): somebody has restored it, and stands
// by it. by names the person, and must not be blank. The database does not tell what happened after its state. So what
// a person had approved before, and what cannot be undone, waits for a person again, waiting requests must be asked
// again ([Ledger.Renew]), and such actions that had started fail. AcceptRestore applies to all ledgers that share the
// database, and the checkpoint of each must accept it.
func (l *Ledger) AcceptRestore(ctx context.Context, tx queue.Tx, by, why string) error {
	if strings.TrimSpace(by) == "" {
		return errors.New("safety: accept the database: the name of who does it is blank, and it goes on record")
	}
	if _, err := tx.ExecContext(ctx, acceptRestore, dbtime.Of(queue.Now(tx))); err != nil {
		return fmt.Errorf("safety: accept the database: %w", err)
	}
	l.checkpoint.Accept(tx)
	return l.events.Add(ctx, tx, events.Event{Kind: events.RestoreAccepted, By: by, Why: why})
}

// noCheckpoint remembers nothing.
type noCheckpoint struct{}

func (noCheckpoint) Load() (head, step string, err error) { return "", "", nil }
func (noCheckpoint) SetHead(string) error                 { return nil }
func (noCheckpoint) SetStep(string) error                 { return nil }
