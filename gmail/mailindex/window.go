package mailindex

import (
	"context"
	"fmt"
	"time"

	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
)

// A search without candidates, such as -in:inbox, has the database look for the next messages that meet its filter. If
// there are hardly any, that would be all messages of the account: so each batch is looked for among the messages of a
// window only. What a window costs is to count its entries in the index of messages by time.

// windows are how large windows are.
type windows struct {
	first  int // messages of the first one; one that has few matches is followed by a larger one
	last   int // of the largest
	passed int // that do not match, of all windows of a page
}

var usualWindows = windows{first: 1000, last: 16_000, passed: 50_000}

// A window is the messages after the cursor among which the next batch is looked for.
type window struct {
	windows

	rows   int          // how many messages it has
	end    searchCursor // the last of them; zero if they are all that are left
	looked int          // the messages of earlier ones that did not match
}

// openWindow confines the filter of a batch to the window.
func (r *indexRun) openWindow(ctx context.Context, filter *maildb.Filter) error {
	var within maildb.Filter
	within.Add("m.deleted_at IS NULL")
	within.Add("m.account_id = %s", r.accountID)
	r.addCursor(&within)
	if r.before < lastInstant {
		within.Add("COALESCE(m.received_at, m.created_at) < %s", dbtime.Of(time.Unix(r.before+1, 0)))
	}
	if r.since > firstInstant {
		within.Add("COALESCE(m.received_at, m.created_at) >= %s", dbtime.Of(time.Unix(r.since, 0)))
	}
	var last []messageKey
	query := sqlKeys + within.Where() + sqlSearchOrder + "1 OFFSET " + within.Arg(r.window.rows-1)
	if err := dbquery.Select(ctx, r.index.db.Reader(), &last, query, within.Args...); err != nil {
		return fmt.Errorf("mailindex: search: %w", err)
	}
	r.window.end = searchCursor{}
	if len(last) > 0 {
		r.window.end = searchCursor{last[0].At.Time, last[0].ID}
		at := dbtime.Of(r.window.end.at)
		filter.Add("COALESCE(m.received_at, m.created_at) >= %s", at)
		filter.Add("(COALESCE(m.received_at, m.created_at), m.id) >= (%s, %s)", at, r.window.end.id)
	}
	return nil
}

// close ends the window, of which a batch was read, and reports whether there may be more messages after that.
func (w *window) close(batch int) (more bool) {
	if batch == searchBatch { // the next window begins at the end of the batch
		w.end = searchCursor{}
		return true
	}
	w.looked += w.rows - batch
	w.rows = min(4*w.rows, w.last)
	return !w.end.isZero()
}
