package web_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// What one marks ✓ and ✗ while one writes a rule stands in the YAML as its tests once it is saved.
func TestMarksBecomeTheTestsOfARule(t *testing.T) {
	w := newWorld(t)
	b := browsertest.Browse(t)
	for width, scheme := range map[int64]string{1280: "light", 390: "dark"} {
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + "rules/form?mailbox=" + url.QueryEscape(sample.Owner))
		b.Until(ready)
		put := func(name, value string) {
			quoted, err := json.Marshal(value)
			require.NoError(t, err)
			browsertest.Eval[any](b, `(() => { const e = document.querySelector("[name='`+name+`']"); e.value = `+string(quoted)+
				`; e.dispatchEvent(new Event("input", { bubbles: true })); })()`)
		}
		put("name", "Marked "+scheme)
		put("label", "Tea")
		put("type 0.0", "subject_contains")
		put("value 0.0", "e")
		b.Until(`document.querySelectorAll("#preview .hits li").length === 20`)
		free := browsertest.Eval[[]string](b, `[...document.querySelectorAll("#preview .hits li")]
			.filter((e) => !e.querySelector("strong")).slice(0, 2).map((e) => e.querySelector("a").textContent)`)
		require.Len(t, free, 2, "no other rule has them")
		for i, value := range []string{"right", "wrong"} {
			browsertest.Eval[any](b, `[...document.querySelectorAll("#preview .hits li")]
				.filter((e) => !e.querySelector("strong"))[`+strconv.Itoa(i)+`].querySelector("[value=`+value+`]").click()`)
		}
		b.Until(`document.querySelectorAll("#preview .met").length === 1 &&
			document.querySelector("#preview .why-failed")?.textContent === "the rule still finds it"`)
		require.Empty(t, browsertest.Eval[[]string](b, browsertest.Crooked), "at %d", width)
		b.Accessible("marks, " + scheme)
		b.Picture("rule-marks-" + scheme)
		browsertest.Eval[any](b, `document.body.dataset.old = "1";
			document.querySelector("[value=show]:not(.unseen)").click()`)
		b.Until(`!document.body.dataset.old && document.querySelectorAll("#preview .met").length === 1`)

		put("value 0.0", free[0])
		b.Until(`document.querySelectorAll("#preview .met").length === 2 &&
			document.querySelectorAll("#rest li").length === 1`)
		browsertest.Eval[any](b, `document.querySelector("[value=go]").click()`)
		b.Until(`!!document.querySelector("#check .difference") && ` + ready)
		require.Contains(t, browsertest.Eval[string](b, `document.querySelector("#check .done").textContent`), "pass")
		browsertest.Eval[any](b, `document.querySelector("[value=save]").click()`)
		b.Until(`location.search.includes("done=save-rules")`)
	}
	b.Quiet()
	text := w.savedRules()
	file, err := rulesfile.Parse("rules.yaml", strings.NewReader(text))
	require.NoError(t, err)
	added := file.Tests[len(file.Tests)-4:] // behind those that the demo has
	without := map[string]int{}
	for _, result := range file.Test(added, nil) {
		require.Contains(t, result.Test.Name, "Marked ")
		require.True(t, result.Passed(), result.String())
		for _, rule := range result.Test.Without {
			without[rule]++
		}
	}
	require.Equal(t, map[string]int{"Marked light": 1, "Marked dark": 1}, without, "one of each two is ✗")
}

// savedRules are the rules of the mailbox as the editor has them.
func (w *world) savedRules() string {
	w.Helper()
	account, err := w.Mail.AccountByEmail(w.Context(), sample.Owner)
	require.NoError(w, err)
	text, err := w.RuleEditor.Text(w.Context(), account.ID)
	require.NoError(w, err)
	return text
}

// A mark is kept while one goes on, and is of the own mailbox.
func TestAMarkIsKeptAndIsOfTheMailbox(t *testing.T) {
	w := newWorld(t)
	id := w.get(previewOf(rules.SubjectContains, "e")).find(t, `name="mark ([^"]+)"`)
	sent := url.Values{"mailbox": {sample.Owner}, "name": {"Fresh"}, "tree": {`{"type":"subject_contains"}`},
		"value 0": {"e"}, "action": {"archive"}, "do": {"all 0"}, "mark " + id: {"wrong"}, "mark x\x00": {"right"}, "mark 7": {""}}
	require.Contains(t, w.post("rules/form", sent).body, `<input type="hidden" name="mark `+id+`" value="wrong">`)
	sent.Set("do", "go")
	refused := w.post("rules/form", sent)
	require.Equal(t, http.StatusUnprocessableEntity, refused.status)
	require.Contains(t, refused.body, "still has")

	w.withNeighbour()
	ann := w.as(access.Person{Name: "ann@example.org", Role: access.Own, Mailboxes: []string{neighbour}})
	sent.Set("mailbox", neighbour)
	require.NotContains(t, ann.post("rules/form", sent).body, "still has", "the message of another mailbox is not read")
	page := ann.get("rules/preview?" + sent.Encode())
	require.NotContains(t, page.body, `id="rest"`)
	for i := range 21 {
		sent.Set("mark "+strconv.Itoa(i), "right")
	}
	require.Equal(t, http.StatusConflict, ann.post("rules/form", sent).status)
}
