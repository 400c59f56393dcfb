package safety

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtest"
)

// What is asked about each message or action is found by an index, however many there were before.
func TestWhatIsAskedForEachActionIsFoundByAnIndex(t *testing.T) {
	db := dbtest.SQLite(t)
	newDesk(t, db, nil)
	group, groupArgs, err := Filter{Group: "g", Limit: 9}.build(listApprovals)
	require.NoError(t, err)
	for name, statement := range map[string]string{
		"list group":     group,
		"selectDecision": selectDecision, "selectAction": selectAction, "selectActionByKey": selectActionByKey,
		"updateAction": updateAction, "selectPermit": selectPermit, "takeLock": takeLock, "endLock": endLock,
		"selectWakeUpLock": selectWakeUpLock, "unlockWakeUp": unlockWakeUp, "selectLockHolder": selectLockHolder,
		"selectBeforeDeletion": selectBeforeDeletion, "selectHistory": selectHistory, "selectEntry": selectEntry,
		"selectLastDone": selectLastDone, "updateReport": updateReport,
		"selectReport": selectReport, "voidUndoLink": voidUndoLink, "voidUndone": voidUndone, "selectUndos": selectUndos,
		"selectLiveUndo": selectLiveUndo, "updateApproval": updateApproval, "useApproval": useApproval,
		"selectRequest": selectRequest, "selectAnswer": selectAnswer, "selectApprover": selectApprover,
		"selectGroup": selectGroup, "lockApproval": lockApproval, "selectApproval": selectApproval,
		"selectApprovals": selectApprovals, "selectWaiting": selectWaiting, "selectQueued": selectQueued,
		"selectPrefix": selectPrefix, "selectLinks": selectLinks, "selectRev": selectRev, "selectAllActions": selectAllActions,
		"selectAllApprovals": selectAllApprovals,
	} {
		var args []any
		if name == "list group" {
			args = groupArgs
		}
		for strings.Contains(statement, fmt.Sprint("$", len(args)+1)) {
			args = append(args, "1")
		}
		var plan []struct {
			ID, Parent, NotUsed int
			Detail              string
		}
		require.NoError(t, dbquery.Select(t.Context(), db.Reader(), &plan, "EXPLAIN QUERY PLAN "+statement, args...), name)
		require.NotEmpty(t, plan, name)
		for _, step := range plan {
			require.NotContains(t, step.Detail, "SCAN ", name)
		}
	}
}
