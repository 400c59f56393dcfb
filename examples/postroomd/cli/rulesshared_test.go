package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
)

// A sharedDesk is a mailbox that several processes work on, with rules that are stored and come from no file.
type sharedDesk struct {
	*teatime
	daemons []*running
	letters int
	turn    int
}

func newSharedDesk(t *testing.T, database string, daemons int) *sharedDesk {
	t.Helper()
	m := newTeatime(t, deleteTea, database+
		"[api]\ntoken = \""+inEnv(t, apiSecret)+"\"\n[schedules]\nhistory_sync = \"1s\"\n")
	m.where = append(m.where, "--set", "paths.rules=")
	s := &sharedDesk{teatime: m}
	for range daemons {
		s.daemons = append(s.daemons, start(t, m.where...))
	}
	for _, d := range s.daemons {
		d.ready()
	}
	return s
}

// callAt calls the API of a daemon.
func callAt(ctx context.Context, d *running, method, path, body string) (answer []byte, err error) {
	r, err := http.NewRequestWithContext(ctx, method, d.url+"api/v1/"+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+apiSecret)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer got.Body.Close()
	answer, err = io.ReadAll(got.Body)
	if err == nil && got.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %s", method, path, got.Status, answer)
	}
	return answer, err
}

// api calls each daemon in its turn.
func (s *sharedDesk) api(method, path, body string) (rule webapi.Rule) {
	s.Helper()
	s.turn++
	answer, err := callAt(s.Context(), s.daemons[s.turn%len(s.daemons)], method, path, body)
	require.NoError(s, err)
	return read[webapi.Rule](s.T, string(answer))
}

// command runs a command about rules, and returns what it says.
func (s *sharedDesk) command(args ...string) string {
	s.Helper()
	r := s.postroomd(append([]string{"rules"}, args...)...)
	require.Equal(s, 0, r.status, r.stderr)
	return r.stdout
}

// newest is the number of the newest version of the rules.
func (s *sharedDesk) newest() string {
	s.Helper()
	return strconv.FormatInt(read[[]view.RulesVersion](s.T, s.command("history", "--json", "--limit", "1"))[0].Version, 10)
}

// decides requires of letters that come now that the rule decides, without a person. An empty rule means none.
func (s *sharedDesk) decides(rule string, action postroom.ActionType) {
	s.Helper()
	subjects := map[string]bool{}
	for range 3 {
		s.letters++
		_, err := s.server.Deliver(s.Context(), []byte(letterNamed(s.letters)))
		require.NoError(s, err)
		subjects[fmt.Sprintf("Tea %d @everyone", s.letters)] = true
	}
	var made []view.Decision
	s.daemons[0].eventually("all are decided about", func() bool {
		made = nil
		var all []view.Decision
		r := s.postroomd("decisions", "list", "--json")
		require.Equal(s, 0, r.status, r.stderr)
		require.NoError(s, json.Unmarshal([]byte(r.stdout), &all))
		for _, d := range all {
			if subjects[d.Subject] {
				made = append(made, d)
			}
		}
		return len(made) == len(subjects)
	})
	for _, d := range made {
		require.Equal(s, rule, d.Rule, "%+v", d)
		require.Equal(s, action, d.Action, "%+v", d)
		require.False(s, d.NeedsApproval, "%+v", d)
		require.Empty(s, d.Reasons, "%+v", d)
	}
}

// stir changes a rule that matches nothing, again and again and through all daemons, until stop is called: whatever
// reads rules meets a change.
func (s *sharedDesk) stir(rule webapi.Rule) (stop func()) {
	ctx, cancel := context.WithCancel(s.Context())
	ended := make(chan error)
	go func() {
		var err error
		for n := 0; err == nil && n < 300 && ctx.Err() == nil; n++ { // each makes a version
			_, err = callAt(ctx, s.daemons[n%len(s.daemons)], "PATCH", "rules/"+rule.ID, fmt.Sprintf(`{"priority": %d}`, 1000+n))
		}
		if ctx.Err() != nil {
			err = nil
		}
		ended <- err
	}()
	return func() {
		cancel()
		require.NoError(s, <-ended)
	}
}

// What is changed through one daemon or by a command counts for the next message, whichever daemon decides about it,
// and is nowhere taken for what somebody has altered in the database.
func TestRulesThatAreChangedCountAtOnceEverywhere(t *testing.T) {
	t.Parallel()
	for name, on := range map[string]struct {
		database func(t *testing.T) string
		daemons  int
	}{
		"sqlite":   {func(*testing.T) string { return "" }, 1},
		"postgres": {onPostgres, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSharedDesk(t, on.database(t), on.daemons)
			stop := s.stir(s.api("POST", "rules",
				`{"name": "Never", "condition": {"type": "subject_contains", "value": "coffee"}, "action": "archive"}`))
			star := s.api("POST", "rules", starTea)
			s.decides("Star", postroom.Star)
			starred := s.newest()
			s.api("PATCH", "rules/"+star.ID, `{"action": "archive"}`)
			s.decides("Star", postroom.Archive)
			first := s.api("POST", "rules",
				`{"name": "Read", "condition": {"type": "subject_contains", "value": "tea"}, "action": "mark_read", "priority": 1}`)
			s.decides("Read", postroom.MarkRead)
			s.api("POST", "rules/"+first.ID+"/swap", `{"with": "`+star.ID+`"}`)
			s.decides("Star", postroom.Archive)
			s.api("PATCH", "rules/"+star.ID, `{"enabled": false}`)
			s.decides("Read", postroom.MarkRead)
			s.command("restore", starred)
			s.decides("Star", postroom.Star)
			_, err := callAt(t.Context(), s.daemons[0], "DELETE", "rules/"+star.ID, "")
			require.NoError(t, err)
			s.decides("", postroom.None)
			stop()
			for _, d := range s.daemons {
				d.stop()
				require.NotContains(t, d.log(), "altered")
			}
			require.Equal(t, 0, s.postroomd("audit", "verify").status)
		})
	}
}
