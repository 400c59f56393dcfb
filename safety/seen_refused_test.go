package safety

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// requireRefused checks that an action that seems to be queued does not start, since a person has rejected it.
func (d *desk) requireRefused(t *testing.T, id string) {
	t.Helper()
	require.Equal(t, postroom.ActionQueued, d.get(id).State)
	a, err := d.start(id, "job-1")
	require.NoError(t, err)
	require.Equal(t, postroom.ActionFailed, a.State)
	require.Equal(t, wasRejected, a.Error)
	d.requireFault(t, id, wasRejected)
}

// TestWhatAPersonHasRejectedDoesNotStart, though a rule would do it alone: not when its row is put back and the entry about the rejection is
// hidden, in the middle of the log.
func TestWhatAPersonHasRejectedDoesNotStart(t *testing.T) {
	for name, at := range map[string]func(d, beside, away *desk) *desk{
		"by the process that has written it":    func(d, _, _ *desk) *desk { return d },
		"by one that begins later":              func(d, _, _ *desk) *desk { d.restart(); return d },
		"by another beside it":                  func(_, beside, _ *desk) *desk { return beside },
		"by one on another machine":             func(_, _, away *desk) *desk { return away },
		"by one on another machine, and before": func(_, _, away *desk) *desk { away.restart(); return away },
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, db queue.DB) {
				path, elsewhere := filepath.Join(t.TempDir(), "log.seen"), filepath.Join(t.TempDir(), "log.seen")
				d, beside, away := newDesk(t, db, remembering(path)), newDesk(t, db, remembering(path)), newDesk(t, db, remembering(elsewhere))
				require.NoError(t, away.ledger.Remember(t.Context()))
				id := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
				d.save()
				_, err := d.reject(id, "ann", "no")
				require.NoError(t, err)
				another := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
				require.NoError(t, away.ledger.Remember(t.Context()))
				d.restore(id)
				d.exec(hide, id)
				at(d, beside, away).requireRefused(t, id)
				d.carriedOut(another)
			})
		})
	}
}

// TestARejectionThatTheLogHasNotStopsNothing: somebody has written it who has no key.
func TestARejectionThatTheLogHasNotStopsNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		d := newDesk(t, db, remembering(filepath.Join(t.TempDir(), "log.seen")))
		id := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
		d.exec(`UPDATE audit_entries SET note = 'rejected' WHERE kind = 'action' AND subject_id = $1`, id)
		require.NoError(t, d.ledger.Remember(t.Context()))
		d.carriedOut(id)
	})
}

// TestARejectionIsForgottenWithTheLogThatHadIt: the database was put back, and a person stands by that.
func TestARejectionIsForgottenWithTheLogThatHadIt(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		path := filepath.Join(t.TempDir(), "log.seen")
		d, beside := newDesk(t, db, remembering(path)), newDesk(t, db, remembering(path))
		id := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
		d.saveAll()
		_, err := d.reject(id, "ann", "no")
		require.NoError(t, err)
		require.NoError(t, beside.ledger.Remember(t.Context()))
		d.cutBack(id)
		_, err = d.start(id, "job-1")
		require.ErrorIs(t, err, ErrLogCut, "it waits until that is known")
		require.NoError(t, d.accept("ann"))
		beside.carriedOut(id)
		require.Empty(t, d.faults(t))

		later := d.record(message("a@example.com"), rule(postroom.Archive, "")).ID
		d.save()
		_, err = d.reject(later, "ann", "no")
		require.NoError(t, err)
		d.restore(later)
		d.exec(hide, later)
		beside.requireRefused(t, later)
	})
}

// TestTheNewestRejectionsAreKept, also in a file that is written anew.
func TestTheNewestRejectionsAreKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log.seen")
	id := func(n int) string { return fmt.Sprintf("%06d", n) }
	l := &seenLog{path: file}
	for n := range maxRefused {
		l.refuse(id(n + 100))
	}
	l.refuse(id(maxRefused + 100))
	l.refuse(id(7))
	l.refuse(id(200))
	check := func(l *seenLog) {
		require.Len(t, l.seen.refused, maxRefused)
		require.False(t, l.refused(id(7)))
		require.False(t, l.refused(id(100)))
		require.True(t, l.refused(id(101)))
		require.True(t, l.refused(id(maxRefused+100)))
	}
	require.NoError(t, l.keep())
	check(l)
	again := &seenLog{path: file}
	_, _, err := again.now()
	require.NoError(t, err)
	check(again)
	require.NoError(t, appendTo(file, strings.Repeat("1:3:aa:bb .\n", longSeen/12+1)))
	again.reach(AuditHead{Lane: 2, Entries: 3, MAC: "aa:bb"})
	require.NoError(t, again.keep())
	again = &seenLog{path: file}
	_, _, err = again.now()
	require.NoError(t, err)
	check(again)
}
