package gmail

import (
	"errors"

	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
)

// Register registers the handlers of this package's jobs, each with the options. A bad configuration is an error that
// names the field, and nothing is registered then.
func Register(d *queue.Dispatcher, cfg Config, opts ...queue.HandlerOption) error {
	cfg, err := cfg.withDefaults()
	if err := errors.Join(fields.Required("gmail: Register: the Dispatcher", d, "one made by queue.NewDispatcher"),
		err); err != nil {
		return err
	}
	j := &jobs{Config: cfg}
	handle(d, j, JobBackfill, BackfillPayload.account, j.backfill, opts...)
	handle(d, j, JobHistorySync, HistorySyncPayload.account, j.syncHistory, opts...)
	handle(d, j, JobLabelsSync, LabelsSyncPayload.account, j.syncLabels, opts...)
	handle(d, j, JobIngest, IngestPayload.account, j.ingest, opts...)
	handle(d, j, JobReconcile, ReconcilePayload.account, j.reconcile, opts...)
	handle(d, j, JobIndex, IndexPayload.account, j.index, opts...)
	if cfg.Topic != "" {
		handle(d, j, JobWatch, WatchPayload.account, j.watch, opts...)
	}
	if cfg.Ledger != nil {
		handle(d, j, JobAction, ActionPayload.account, j.act, opts...)
		handle(d, j, JobUnsnooze, UnsnoozePayload.account, j.unsnooze, opts...)
	}
	if cfg.Outbox != nil {
		handle(d, j, outbox.JobSend, accountOfSend, j.send, opts...)
	}
	return nil
}
