package web_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/safety"
)

// Each figure of Today leads to what it counts.
func TestTheFiguresOfTodayLeadToTheirActions(t *testing.T) {
	w := newWorld(t)
	_, decided, _ := strings.Cut(w.get("").body, `id="decided"`)
	decided, _, _ = strings.Cut(decided, `id="mailboxes"`)
	rows := regexp.MustCompile(`<th scope="row">(.*?)</th>`).FindAllStringSubmatch(decided, -1)
	require.NotEmpty(t, rows)
	for _, row := range rows {
		if row[1] == "others" {
			continue
		}
		link := regexp.MustCompile(`href="[./]*(actions\?[^"]+)"`).FindStringSubmatch(row[1])
		require.NotNil(t, link, row[1])
		page := w.get(html.UnescapeString(link[1]))
		require.Equal(t, http.StatusOK, page.status, row[1])
		require.Contains(t, page.body, "<li data-row", row[1])
	}
}

// A filter by the id of a rule, as links have it, is shown by the name of the rule.
func TestAFilterSaysTheNameOfItsRule(t *testing.T) {
	w := newWorld(t)
	rule := w.rules()[0]
	body := w.get("actions?rule=" + rule.ID).body
	require.Contains(t, body, `name="rule" value="`+rule.Name+`"`)
	require.Equal(t, strings.Count(w.get("actions?rule="+url.QueryEscape(rule.Name)).body, "<li data-row"),
		strings.Count(body, "<li data-row"))
	require.Contains(t, body, `undo?rule=`+rule.ID, "the rule may be renamed until that is clicked")
}

// An action leads to the rule that decided, and to the way to have it otherwise, which does not begin with what it did.
func TestAnActionLeadsToItsRuleAndItsFix(t *testing.T) {
	w := newWorld(t)
	moved := w.acted(safety.Filter{Types: []postroom.ActionType{postroom.Move}, States: completed})[0]
	body := w.get("actions/" + moved.Action.ID).body
	path := regexp.MustCompile(`id="rule" href="[./]*(rules/[^"]+)"`).FindStringSubmatch(body)
	require.NotNil(t, path, body)
	require.Equal(t, http.StatusOK, w.get(path[1]).status)
	require.Regexp(t, `id="wrong" href="[./]*mail/[^"]+#fix"`, body)
	mail := w.pathOf(moved.Action)
	require.Contains(t, w.get(mail).body, `<option value="archive" selected>`)
	require.Contains(t, w.get(mail+"/rules").body, "Decided by "+moved.Decision.Decision.RuleName)
	fix := w.get(mail + "/fix?action=none").body
	require.Contains(t, fix, "leave as it is instead of move to")
	require.NotContains(t, fix, "none instead of")

	archived := w.acted(safety.Filter{Types: []postroom.ActionType{postroom.Archive}, States: completed})[0]
	require.Contains(t, w.get(w.pathOf(archived.Action)).body, `<option value="none" selected>`)
	left := w.acted(safety.Filter{Sources: []postroom.Source{postroom.SourceNone}})[0]
	require.Contains(t, w.get(w.pathOf(left.Action)+"/rules").body, "No rule matches.")
}
