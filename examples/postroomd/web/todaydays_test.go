package web_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
)

// arrived has the mail that rules moved come a minute before that was done, and that of the last week.
func (w *world) arrived() {
	w.Helper()
	require.NoError(w, w.DB.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, first := tx.ExecContext(ctx, `UPDATE accounts SET decide_since = NULL`)
		came := `strftime('%Y-%m-%dT%H:%M:%f000Z', MIN(ended_at), '-90 seconds')`
		if w.Env.Config.Paths.Database.Postgres() {
			came = `MIN(ended_at) - INTERVAL '90 seconds'`
		}
		_, second := tx.ExecContext(ctx, `UPDATE messages SET received_at = (SELECT `+came+
			` FROM actions WHERE message_id = messages.id)
			WHERE id IN (SELECT message_id FROM actions WHERE type = 'move' AND ended_at IS NOT NULL)`)
		return errors.Join(first, second)
	}))
}

// Today has how long mail waited and what models cost, by day, as pictures and as tables.
func TestTodayShowsWaitsAndCosts(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) { newWorld(t).showsWaitsAndCosts() })
	t.Run("postgres", func(t *testing.T) {
		newWorldWith(t, "", func(c *config.Config) {
			c.Paths.Database = config.Database(dbtest.PostgresDSN(t))
		}).showsWaitsAndCosts()
	})
}

func (w *world) showsWaitsAndCosts() {
	t := w.T
	page := w.get("")
	require.NotContains(t, page.body, `id="waits"`, "the sample mailbox is old")
	require.NotContains(t, page.body, `id="spent"`)
	w.arrived()
	w.asked(3)
	page = w.get("")
	require.Contains(t, page.body, `aria-label="From arrival to action, by day: of `)
	require.Contains(t, page.body, "1 min 30 s")
	require.Contains(t, page.body, `aria-label="Tokens by day: 3`+"\u202f"+`000 in all, at most 3`)
	day := time.Now().In(time.UTC).Format("Mon 2 Jan")
	require.Contains(t, page.body, `<th scope="row">`+day+`</th><td class="n">$0.0042</td><td class="n">3`+"\u202f"+
		`000</td><td class="n">3</td>`)
	require.Contains(t, w.get("?window=30d").body, `id="waits"`)
}

func TestTodaysPicturesFitAndAreReadable(t *testing.T) {
	w := newWorld(t)
	w.arrived()
	w.asked(3)
	pages := map[string]string{"today-days": ""}
	w.small(pages)
	looks(browsertest.Browse(t), w.url, pages)
	b := browsertest.Browse(t)
	for width, scheme := range map[int64]string{1280: "dark", 390: "light"} {
		b.Size(width, 844)
		b.Scheme(scheme)
		b.Open(w.url + "?window=30d")
		browsertest.Eval[any](b, `document.querySelector("#waits summary").click()`)
		require.Contains(b, browsertest.Eval[string](b, `document.querySelector("#waits .days").innerText`), "1 min 30 s")
		require.Empty(b, browsertest.Eval[[]string](b, browsertest.Crooked), "%d", width)
	}
	b.Quiet()
}
