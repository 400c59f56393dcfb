package api_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/view/runs"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm/agent"
	"github.com/postroom-go/postroom/llm/llmtest"
)

// A program has an agent tell what waits at a time; the run is on record, and nothing is proposed.
func TestAnAgentTellsByASchedule(t *testing.T) {
	for name, database := range map[string]string{"sqlite": "", "postgres": dbtest.MigratedDSN(t)} {
		t.Run(name, func(t *testing.T) {
			var got string
			model := llmtest.NewServerFunc(t, llmtest.ChatCompletions, func(asked llmtest.Asked) llmtest.Reply {
				if all := fmt.Sprint(asked.Messages); strings.Contains(all, "TASK\nSummarise") {
					got = all
				}
				return llmtest.Reply{Text: "Two messages came: see https://evil.example/x"}
			})
			folder := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(folder, "support.yaml"), []byte(supportProfile), 0o600))
			w := newWorldWith(t, database, func(c *config.Config) {
				c.LLM.Provider, c.LLM.Model.Model, c.LLM.BaseURL, c.LLM.APIKey = "openai", "small", model.URL, "sk-1"
				c.Paths.Agents = config.Path(folder)
			}, mail("ann@example.com", "tea"), mail("bob@example.org", "lunch"))
			call[problem](w, "POST", "/agents/sales/schedules", `{"prompt": "x", "cron": "@daily"}`, http.StatusNotFound)
			for _, body := range []string{`{"prompt": "x"}`, `{"prompt": "x", "cron": "sometimes"}`,
				`{"prompt": "", "cron": "@daily"}`, `{"prompt": "x", "cron": "@daily", "since": "-1h"}`,
				`{"prompt": "x", "cron": "@daily", "since": "long"}`, `{"prompt": "x", "cron": "@daily", "zone": "Middle/Earth"}`} {
				call[problem](w, "POST", "/agents/support/schedules", body, http.StatusUnprocessableEntity)
			}
			call[map[string]any](w, "POST", "/reminders", `{"text": "Buy tea", "at": "tomorrow"}`, http.StatusOK)
			made := call[runs.Schedule](w, "POST", "/agents/support/schedules",
				`{"prompt": "Summarise what waits", "cron": "30 7 * * MON-FRI", "zone": "Europe/Berlin", "since": "48h"}`, http.StatusOK)
			require.Equal(t, "48h0m0s", made.Since)
			require.False(t, made.Next.IsZero())
			require.NotEmpty(t, made.Mailbox)
			require.Equal(t, []runs.Schedule{made}, call[runs.Schedules](w, "GET", "/agents/schedules", "", http.StatusOK).List)

			_, err := w.app.Queue.FireSchedule(t.Context(), string(agent.JobInvocation)+":"+made.ID)
			require.NoError(t, err)
			w.work()
			list := w.runs("").List
			require.Len(t, list, 1)
			require.Equal(t, agent.StateDone, list[0].State, list[0].Reason)
			require.Equal(t, "Summarise what waits", list[0].Reason)
			require.Contains(t, list[0].Parameters["output"], "Two messages came")
			require.Contains(t, got, "Reminder: Buy tea")

			path := "/agents/schedules/" + made.ID + "/remove"
			require.Equal(t, made.ID, call[runs.Schedule](w, "POST", path, "", http.StatusOK).ID)
			call[problem](w, "POST", path, "", http.StatusNotFound)
			require.Empty(t, call[runs.Schedules](w, "GET", "/agents/schedules", "", http.StatusOK).List)
		})
	}
}
