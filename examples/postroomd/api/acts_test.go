package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/safety/events"
)

// What a person changes is on record with who did it: mailboxes, labels, instructions, and what was taken back.
func TestWhoDidItIsOnRecord(t *testing.T) {
	each(t, func(w *world) {
		const box = "/mailboxes/" + sample.Owner
		call[any](w, "POST", box+"/pause", `{"why": "a look"}`, http.StatusOK)
		call[any](w, "POST", box+"/resume", "", http.StatusOK)
		label := call[struct{ Labels []struct{ ID, Name string } }](w, "GET", box+"/labels", "", http.StatusOK).Labels[0]
		call[any](w, "PATCH", box+"/labels/"+label.ID, `{"description": "bills", "for_models": true}`, http.StatusOK)
		call[problem](w, "PATCH", box+"/labels/none", `{"description": "x"}`, http.StatusNotFound)
		i := call[view.Instruction](w, "POST", "/instructions", `{"text": "Be brief.", "scope": "all"}`, http.StatusOK)
		call[any](w, "PATCH", "/instructions/"+i.ID, `{"enabled": false}`, http.StatusOK)
		call[any](w, "DELETE", "/instructions/"+i.ID, "", http.StatusOK)

		acts := call[view.Acts](w, "GET", "/acts", "", http.StatusOK).List
		kinds := make([]events.Kind, 0, len(acts))
		for _, a := range acts {
			if a.Kind != events.Settings {
				require.Equal(w, "api", a.By, a.What)
				kinds = append(kinds, a.Kind)
			}
		}
		require.Equal(w, []events.Kind{app.InstructionRemoved, app.InstructionChanged, app.InstructionAdded,
			app.LabelDescribed, app.MailboxResumed, app.MailboxPaused}, kinds)
		require.Equal(w, i.ID+", disabled: Be brief.", acts[0].Why)
		require.Equal(w, label.Name+`: "bills"; models may use it`, acts[3].Why)
		require.Equal(w, sample.Owner, acts[3].Mailbox)
		require.Equal(w, "a look", acts[5].Why)
		require.Len(w, call[view.Acts](w, "GET", "/acts?mailbox="+sample.Owner, "", http.StatusOK).List, 3)
		require.Equal(w, acts[1:], call[view.Acts](w, "GET", "/acts?before="+acts[0].ID, "", http.StatusOK).List)

		w.decide(starTea, "subject:tea")
		star := call[view.Actions](w, "GET", "/actions?kind=star", "", http.StatusOK).List[0]
		require.Empty(w, star.UndoneBy)
		call[any](w, "POST", "/actions/"+star.ID+"/undo", "", http.StatusOK)
		show := func() *view.WholeAction {
			return new(call[view.WholeAction](w, "GET", "/actions/"+star.ID, "", http.StatusOK))
		}
		require.Equal(w, "is being taken back, as api has asked", show().Undo)
		w.work()
		require.Equal(w, []string{"api", "taken back by api"}, []string{show().UndoneBy, show().Undo})
	})
}
