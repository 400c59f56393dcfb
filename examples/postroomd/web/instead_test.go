package web_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/safety"
)

// A person does another thing than what was asked: it is carried out, what was asked never is, and both are on record.
func TestAnotherThingIsDoneInstead(t *testing.T) {
	w := newAskingWorld(t)
	b := browsertest.Browse(t)
	for width, kind := range map[int64]string{1280: "star", 390: "archive"} { // to archive asks here, too
		b.Size(width, 844)
		asked := w.waiting(safety.Filter{Rule: "Books"})[0]
		b.Open(w.url + "waiting/" + asked.Action.ID)
		browsertest.Eval[any](b, `document.querySelector("#instead summary").click();
			document.querySelector("#instead [name=kind]").value = "`+kind+`";
			document.querySelector("#instead [name=why]").value = "no books <b>";
			document.querySelector("#instead button").click()`)
		b.Until(`document.querySelector(".done")?.textContent.includes("the other way")`)
		require.NoError(t, w.RunJobs(t.Context()))
		require.Equal(t, postroom.ActionRejected, w.state(asked.Action.ID))
		answers, err := w.Ledger.ApprovalsOf(t.Context(), asked.Action.ID)
		require.NoError(t, err)
		require.Equal(t, "instead: "+kind+"; no books <b>", answers[0].Why)
		done := w.acted(safety.Filter{MessageID: asked.Action.MessageID,
			Types: []postroom.ActionType{postroom.ActionType(kind)}})
		require.Len(t, done, 1)
		require.Equal(t, postroom.ActionCompleted, done[0].Action.State)
		require.Contains(t, done[0].Decision.Decision.Rationale, access.LocalName+" chose it in place of")
		chosen := w.get("actions/" + done[0].Action.ID).body
		require.Contains(t, chosen, "a person")
		require.Regexp(t, `Came of</dt><dd><a href="[^"]*actions/`+asked.Action.ID, chosen)
		require.Regexp(t, `Led to</dt><dd><a href="[^"]*actions/`+done[0].Action.ID, w.get("actions/"+asked.Action.ID).body)
	}
	b.Quiet()
}

// What sends, deletes or has no label is not done instead, and then nothing is answered.
func TestNotEverythingIsDoneInstead(t *testing.T) {
	w := newAskingWorld(t)
	asked := w.waiting(safety.Filter{Rule: "News"})[0]
	shown := w.get("waiting/"+asked.Action.ID).find(t, `name="shown" value="([^"]+)"`)
	for name, form := range map[string]url.Values{
		"sends": {"kind": {"forward"}}, "deletes": {"kind": {"delete"}}, "nothing": {"kind": {"none"}}, "odd": {"kind": {"x"}},
		"no label": {"kind": {"move"}}, "another label": {"kind": {"apply_label"}, "label": {"INBOX"}},
	} {
		form.Set("shown", shown)
		require.Equal(t, http.StatusConflict, w.post("waiting/instead", form).status, name)
	}
	require.Equal(t, http.StatusConflict, w.post("waiting/instead", url.Values{"kind": {"star"}, "shown": {"x.y"}}).status)
	require.Equal(t, postroom.ActionPendingApproval, w.state(asked.Action.ID))
	require.NotContains(t, w.InsteadKinds(), postroom.Forward)
	form := url.Values{"kind": {"star"}, "shown": {shown}}
	require.Equal(t, http.StatusSeeOther, w.post("waiting/instead", form).status)
	require.Equal(t, http.StatusConflict, w.post("waiting/instead", form).status, "it was answered")
	require.Len(t, w.acted(safety.Filter{Sources: []postroom.Source{postroom.SourceHost}}), 1)
}
