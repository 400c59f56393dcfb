package llm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// An Outage is a model that is not asked until something changes: its provider refuses the key, the name or the bill,
// or a budget is spent. [Metered] records it at the first failure, logs it once, and deletes it when the model answers
// again.
type Outage struct {
	Model string
	// AccountID is the account whose budget is spent; empty for the budget of all accounts, and for a refusal of the
	// provider.
	AccountID string
	Reason    string // such as "key refused"
	Failure   string // the whole error, without keys and without text of mails
	Since     time.Time
	Last      time.Time // when a call was refused last
	Calls     int64     // that were refused
	// Until is when the budget is reset. Zero: when a person has resolved it.
	Until time.Time
}

type outageRow struct {
	Model     string      `db:"model"`
	AccountID string      `db:"account_id"`
	Reason    string      `db:"reason"`
	Failure   string      `db:"failure"`
	Since     dbtime.Time `db:"began_at"`
	Last      dbtime.Time `db:"last_at"`
	Calls     int64       `db:"calls"`
	Until     dbtime.Time `db:"until_at"`
}

// Outages returns the models that are not asked at the time now, in the order in which that began.
func (r *Records) Outages(ctx context.Context, now time.Time) ([]Outage, error) {
	var rows []outageRow
	if err := dbquery.Select(ctx, r.cfg.DB.Reader(), &rows, sqlOutages, dbtime.Of(now)); err != nil {
		return nil, fmt.Errorf("read which models are not asked: %w", err)
	}
	outages := make([]Outage, len(rows))
	for i, row := range rows {
		outages[i] = Outage{
			Model: row.Model, AccountID: row.AccountID, Reason: row.Reason, Failure: row.Failure,
			Since: row.Since.Time, Last: row.Last.Time, Calls: row.Calls, Until: row.Until.Time,
		}
	}
	return outages, nil
}

// An outage is a call's finding about its model, and whether it is new.
type outage struct {
	account string
	failure *Error
	until   time.Time
	tokens  int64 // that the call could have used, if a budget is spent
	isNew   bool
}

// outageOf returns nil for a failure that passes by itself.
func outageOf(failure error) *outage {
	if e, ok := errors.AsType[*Error](failure); ok && e.NeedsPerson() {
		return &outage{failure: e}
	}
	return nil
}

// record counts the refused call. A budget of a new day that is spent is a new outage.
func (o *outage) record(ctx context.Context, tx queue.Tx, model string) error {
	now := dbtime.Of(queue.Now(tx))
	var calls int64
	err := dbquery.Get(ctx, tx, &calls, sqlOutage, model, o.account, o.failure.reason().Error(),
		dbvalue.Clean(o.failure.Error()), now, dbtime.Of(o.until), o.tokens)
	if err != nil {
		return fmt.Errorf("record that %s is not asked: %w", model, err)
	}
	o.isNew = calls == 1
	return nil
}

// tell logs an outage when it begins.
func (m *Metered) tell(ctx context.Context, o *outage) {
	if o != nil && o.isNew {
		m.cfg.Logger.WarnContext(ctx, "a model is not asked until this is set right; what it is to decide about waits",
			"model", m.cfg.Model, "account_id", o.account, "error", o.failure)
	}
}

// refuse records a call that is not made, and that a budget is spent.
func (m *Metered) refuse(ctx context.Context, call *meteredCall) error {
	o := call.spent
	call.usage, call.cost, call.failure = Usage{}, 0, o.failure.Error()
	err := m.cfg.Records.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := call.insert(ctx, tx, m.cfg.Model, Unaffordable); err != nil {
			return err
		}
		return o.record(ctx, tx, m.cfg.Model)
	})
	if err == nil {
		m.tell(ctx, o)
	}
	return err
}

// answered forgets the outages that the answer to a call has ended. That of a budget ends when a call fits into it that
// is no smaller than the smallest of those that it has refused, which wait still.
func (m *Metered) answered(ctx context.Context, tx queue.Tx, call *meteredCall) (ended bool, err error) {
	n, err := dbquery.Exec(ctx, tx, sqlEndOutages, m.cfg.Model, call.account, call.reserved)
	if err != nil {
		return false, fmt.Errorf("record that %s answers: %w", m.cfg.Model, err)
	}
	return n > 0, nil
}
