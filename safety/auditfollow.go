package safety

import (
	"slices"

	"github.com/postroom-go/postroom"
)

// logged are the states in entries about actions.
var logged = []postroom.ActionState{
	"", postroom.ActionQueued, postroom.ActionExecuting, postroom.ActionApprovedPending, postroom.ActionCompleted, postroom.ActionFailed,
	postroom.ActionCanceled, postroom.ActionRejected,
}

// maxFollowed bounds the revisions that are remembered of an action. No action has as many.
const maxFollowed = 10_000

// follow notes the state of an action at a revision, according to its entry.
func (v *version) follow(rev int, state postroom.ActionState) {
	if rev < 1 || rev > maxFollowed {
		return
	}
	for len(v.states) < rev {
		v.states = append(v.states, 0)
	}
	v.states[rev-1] = byte(max(0, slices.Index(logged, state)))
}

// states finds changes of an action that the ledger does not make: the row was altered, and the ledger continued from there.
func (v *verifier) states(id string, states []byte) {
	for i, now := range states {
		switch {
		case now == 0:
			v.faultf(auditAction, id, "the log does not have it at revision %d: it was altered, and went on", i+1)
			return
		case i == 0:
			continue
		}
		from, to := logged[states[i-1]], logged[now]
		// Recording the content's hash does not change the state, nor does recording the wake-up of a snooze.
		if from == to && (!from.Final() || to == postroom.ActionCompleted) || CanFollow(from, to) {
			continue
		}
		v.faultf(auditAction, id, "it was %s, and then %s, which does not follow: it was altered, and went on", from, to)
		return
	}
}

// An incoherentRow is an action that differs from its decision.
type incoherentRow struct {
	ID         string              `db:"id"`
	Type       postroom.ActionType `db:"type"`
	Parameters string              `db:"parameters"`
	Decided    string              `db:"decided_parameters"`
	Fits       int                 `db:"fits"` // but for the parameters
}

func (v *verifier) incoherent(r *incoherentRow) {
	if r.Fits == 0 || !IsUndo(r.Type) || !sameText(r.Parameters, r.Decided) {
		v.faultf(auditAction, r.ID, "it is not what was decided: its account, message, type or parameters were altered")
	}
}

func (v *verifier) link(r *linkRow) {
	v.row(auditLink, r.Cause, r.rev(), r.CreatedAt, r.parts())
}
