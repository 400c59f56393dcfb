package queueui_test

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/browsertest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueui"
)

// A slow is a database whose writes take long while it is told so, by its own clock.
type slow struct {
	driver.Driver

	takes, late time.Duration
}

func (d *slow) Unwrap() driver.Driver { return d.Driver }
func (d *slow) Now() time.Time        { return time.Now().Add(d.late) }

func (d *slow) Write(ctx context.Context, fn func(ctx context.Context, tx driver.Tx) error) error {
	d.late += d.takes
	return d.Driver.Write(ctx, fn)
}

// An oncall is the queue of a night: jobs that complete, a worker that lives, and ten incidents.
type oncall struct {
	*site

	db                    *slow
	stuck, poison, orphan string // ids of jobs
}

func newOncall(t *testing.T) *oncall {
	t.Helper()
	s := newSite(t, nil)
	o := &oncall{site: s, db: &slow{Driver: s.q.DB().Driver()}}
	q, err := queue.New(queue.NewDB(o.db), nil)
	require.NoError(t, err)
	s.q = q
	s.ui = s.mount("/ops/jobs", &queueui.Config{Interval: 100 * time.Millisecond})
	for _, jobType := range []string{"mail.sync", "mail.classify"} {
		o.rows(20, jobType, "state = 'completed', attempt = 1, started_at = {10m}, finished_at = {10m}")
	}
	o.beat("worker-1", 0)
	return o
}

// ago is the time that a row shows, as SQLite stores it.
func ago(d time.Duration) string {
	return "'" + time.Now().Add(-d).UTC().Format("2006-01-02T15:04:05.000000Z") + "'"
}

var spans = regexp.MustCompile(`\{[^}]*\}`)

// exec runs a statement; {10m} in it is the time ten minutes ago.
func (o *oncall) exec(statement string) {
	o.Helper()
	text := spans.ReplaceAllStringFunc(statement, func(span string) string {
		d, err := time.ParseDuration(strings.Trim(span, "{}"))
		require.NoError(o, err)
		return ago(d)
	})
	require.NoError(o, o.db.Driver.Write(o.Context(), func(ctx context.Context, tx driver.Tx) error {
		_, err := tx.ExecContext(ctx, text)
		return err
	}))
}

// rows enqueues jobs of a type and sets columns of theirs. It returns the id of the last.
func (o *oncall) rows(n int, jobType, set string) (id string) {
	o.Helper()
	return o.rowsWith(n, jobType, set, nil)
}

func (o *oncall) rowsWith(n int, jobType, set string, opts *queue.Options) (id string) {
	o.Helper()
	jobs := make([]queue.NewJob, n)
	for i := range jobs {
		jobs[i] = queue.Type[letter](jobType).New(letter{To: "ada@example.org"}, opts)
	}
	for len(jobs) > 0 {
		some := jobs[:min(len(jobs), 1000)]
		jobs = jobs[len(some):]
		stored, err := o.q.EnqueueMany(o.Context(), some)
		require.NoError(o, err)
		id = stored[len(stored)-1].ID
	}
	if set != "" {
		o.exec("UPDATE jobs SET " + set + " WHERE type = '" + jobType + "'")
	}
	return id
}

func (o *oncall) beat(worker string, age time.Duration) {
	o.Helper()
	for _, first := range []bool{true, false} {
		_, err := o.db.Heartbeat(o.Context(), driver.HeartbeatRequest{WorkerID: worker, First: first,
			Now: time.Now().Add(-age),
			Types: []string{"mail.sync", "mail.classify", "mail.send", "mail.receipt", "news.render", "gmail.fetch",
				"mail.archive"}})
		require.NoError(o, err)
	}
}

func (o *oncall) claim(worker, jobType string, n int) (ids []string) {
	o.Helper()
	claimed, err := o.q.Claim(o.Context(), worker, []string{jobType}, n)
	require.NoError(o, err)
	for _, a := range claimed {
		ids = append(ids, a.Job.ID)
	}
	require.Len(o, ids, n)
	return ids
}

// begin makes the ten incidents.
func (o *oncall) begin() {
	o.Helper()
	ctx := o.Context()
	// A worker has died with a job.
	o.rows(1, "mail.sync", "")
	o.beat("worker-dead", time.Hour)
	o.orphan = o.claim("worker-dead", "mail.sync", 1)[0]
	// A type fails since a deploy.
	o.rows(40, "mail.receipt", "state = 'failed', attempt = 5, failures = 5, started_at = {8m}, finished_at = {8m}, updated_at = {8m}, "+
		`last_error = 'template: receipt.html:' || rowid || ': function "money" not defined'`)
	// A backlog.
	o.rows(3000, "news.render", "not_before = {40m}")
	// A job is stuck.
	o.rows(1, "mail.classify", "")
	o.stuck = o.claim("worker-1", "mail.classify", 1)[0]
	o.exec("UPDATE jobs SET started_at = {3h} WHERE id = '" + o.stuck + "'")
	// A limit is saturated.
	require.NoError(o, o.q.SetLimit(ctx, queue.ForKey("gmail:ada"), queue.Limit{MaxRunning: 2}))
	o.rowsWith(60, "gmail.fetch", "", &queue.Options{LimitKey: "gmail:ada"})
	o.claim("worker-1", "gmail.fetch", 2)
	// A schedule is silent.
	require.NoError(o, o.q.SetSchedule(ctx, queue.Schedule{Name: "daily digest", Cron: "0 7 * * *",
		Job: queue.Type[letter]("mail.sync").New(letter{}, nil)}))
	o.exec("UPDATE job_schedules SET next_at = {3h}")
	// A job kills its workers.
	o.poison = o.rows(1, "mail.parse", "crashes = 3, attempt = 3, last_error = 'worker host-17 died'")
	o.exec("UPDATE jobs SET not_before = {-5m}, hold = 1 WHERE id = '" + o.poison + "'")
	// A type was paused by mistake.
	o.rows(25, "mail.archive", "")
	require.NoError(o, o.q.Pause(ctx, queue.ForType("mail.archive")))
	// 5,000 jobs have failed with one error, and can be retried.
	o.rows(5000, "mail.send", "state = 'failed', attempt = 5, failures = 5, started_at = {2h}, finished_at = {2h}, updated_at = {2h}, "+
		"last_error = '451 4.3.2 system not accepting network messages, id ' || rowid")
	// The database is slow.
	o.db.takes = 800 * time.Millisecond
}

// screenHeight is what a person sees of a page at 1,280 pixels without scrolling.
const screenHeight = 800

// A hand is a person with a browser, who may click five times.
type hand struct {
	*browsertest.Browser

	clicks int
}

// sees checks that the words are to be seen in the first screen of the page.
func (h *hand) sees(words string) {
	h.Helper()
	h.Until(`document.readyState === "complete" && !!document.getElementById("found")`)
	require.Equal(h, "seen", browsertest.Eval[string](h.Browser, `(() => {
  const words = `+strconv.Quote(words)+`;
  for (const e of document.querySelectorAll("main li > p, main tr, .why, .figures > div")) {
    if (!e.innerText.includes(words) || !e.checkVisibility()) continue;
    const r = e.getBoundingClientRect();
    const inside = r.top >= 0 && r.bottom <= innerHeight && r.left >= 0 && r.right <= innerWidth;
    return inside ? "seen" : "out of the screen, to " + r.bottom;
  }
  return "not on the page: " + document.querySelector("main").innerText.slice(0, 3000);
})()`), words)
}

// click clicks where the selector says, with the mouse, once it is there.
func (h *hand) click(selector string) {
	h.Helper()
	h.clicks++
	require.LessOrEqual(h, h.clicks, 5, "it takes more than five clicks")
	h.Until("!!document.querySelector(" + strconv.Quote(selector) + ")?.checkVisibility()")
	h.Click(selector)
}

// says waits for words on the page, which may be the next.
func (h *hand) says(words string) {
	h.Helper()
	h.Until(`document.readyState === "complete" && document.querySelector("main").innerText.includes(` + strconv.Quote(words) + ")")
}

// finding is the selector of the row of a finding whose text has the words, which is marked for that.
func (h *hand) finding(words string) string {
	h.Helper()
	require.True(h, browsertest.Eval[bool](h.Browser, `(() => {
  const row = [...document.querySelectorAll("#found li, #errors tr")].find((e) => e.innerText.includes(`+strconv.Quote(words)+`));
  window.at = row?.querySelector("a, summary, button")?.id;
  return !!row;
})()`), words)
	return "#" + browsertest.Eval[string](h.Browser, "CSS.escape(window.at)")
}

func (o *oncall) counts(filter queue.Filter) map[queue.State]int {
	o.Helper()
	counts, err := o.q.Counts(o.Context(), filter)
	require.NoError(o, err)
	return counts
}

// An incident is found by its words in the first screen of the overview, mended by hand, and then mended in the
// database.
type incident struct {
	name, words string
	mend        func(h *hand)
	mended      func(t *testing.T)
}

func (o *oncall) incidents() []incident {
	ofType := func(name string) queue.Filter { return queue.Filter{Types: []string{name}} }
	paused := func(t *testing.T, target queue.Target) bool {
		t.Helper()
		limits, err := o.q.Limits(t.Context())
		require.NoError(t, err)
		for _, l := range limits {
			if l.Target == target {
				return l.Paused
			}
		}
		return false
	}
	return []incident{
		{"a slow database", "the database is slow: a write transaction that writes nothing takes ", func(h *hand) {
			h.click(`#pause-type-gmail\.fetch > summary`) // what runs most
			h.click(`#pause-go-type-gmail\.fetch`)
			h.says("Paused. What runs goes on")
		}, func(t *testing.T) {
			require.True(t, paused(t, queue.ForType("gmail.fetch")))
			o.db.takes = 0 // the load is gone
		}},
		{"a dead worker", "worker worker-dead gave its last sign of life at ", func(h *hand) {
			h.click("#release-worker-dead > summary")
			h.click("#go-release-worker-dead")
			h.says("Given back: 1 job.")
		}, func(t *testing.T) { require.Equal(t, queue.StateQueued, o.state(o.orphan)) }},
		{"a type that fails after a deploy", "type mail.receipt fails: 40 of the last 40 jobs, since ", func(h *hand) {
			h.click(`#pause-found-type-mail\.receipt > summary`)
			h.click(`#pause-go-found-type-mail\.receipt`)
			h.says("Paused. What runs goes on")
			h.click(h.finding(`template: receipt.html:#: function "…" not defined`))
			h.says("Retry all 40…")
			h.click("#all > summary") // they wait for the mended program
			h.click("#all-go")
			h.says("Due again: 40 jobs.")
		}, func(t *testing.T) {
			require.True(t, paused(t, queue.ForType("mail.receipt")))
			require.Equal(t, map[queue.State]int{queue.StateQueued: 40}, o.counts(ofType("mail.receipt")))
			require.NoError(t, o.q.Resume(t.Context(), queue.ForType("mail.receipt"))) // it is mended
		}},
		{"a backlog", "type news.render: 3000 jobs are due, the oldest for 40m", func(h *hand) {
			h.click(h.finding("type news.render: 3000 jobs are due"))
			h.says("Cancel all 3\u202f000…")
			h.click("#all > summary")
			h.click("#all-go")
			h.says("Canceled: 3\u202f000 jobs.")
		}, func(t *testing.T) {
			require.Equal(t, map[queue.State]int{queue.StateCanceled: 3000}, o.counts(ofType("news.render")))
		}},
		{"a stuck job", "(mail.classify) runs for 3h0m", func(h *hand) {
			h.click(h.finding("(mail.classify) runs for 3h0m"))
			h.click("#cancel > summary")
			h.click("#cancel-go")
			h.says("The job is canceled.")
		}, func(t *testing.T) { require.Equal(t, queue.StateCanceled, o.state(o.stuck)) }},
		{"a saturated limit", "limit key gmail:ada: 2 of at most 2 run, and 58 jobs wait", func(h *hand) {
			h.click(`#limit-found-key-gmail\:ada > summary`)
			h.click(`#limit-found-key-gmail\:ada [name=max]`)
			h.Press("\b", "1", "0")
			h.click(`#go-limit-found-key-gmail\:ada`)
			h.says("The limit is set.")
		}, func(t *testing.T) {
			limits, err := o.q.Limits(t.Context())
			require.NoError(t, err)
			require.Contains(t, limits, queue.LimitStatus{Target: queue.ForKey("gmail:ada"), Limit: queue.Limit{MaxRunning: 10}})
		}},
		{"a silent schedule", "schedule daily digest has been due for 3h0m", func(h *hand) {
			h.click(`#found-fire-daily\ digest > summary`)
			h.click(`#go-found-fire-daily\ digest`)
			h.says("The schedule has fired: this is its job.")
		}, func(t *testing.T) {
			require.Equal(t, map[queue.State]int{queue.StateQueued: 1},
				o.counts(queue.Filter{Tags: []string{"schedule:daily digest"}}))
		}},
		{"a poison job", "(mail.parse) has been running at the death of 3 workers", func(h *hand) {
			h.click(h.finding("(mail.parse) has been running at the death of 3 workers"))
			h.click("#cancel > summary")
			h.click("#cancel-go")
			h.says("The job is canceled.")
		}, func(t *testing.T) { require.Equal(t, queue.StateCanceled, o.state(o.poison)) }},
		{"a pause by mistake", "type mail.archive: paused, and 25 jobs wait", func(h *hand) {
			h.click(`#resume-found-type-mail\.archive`)
			h.says("Resumed.")
		}, func(t *testing.T) { require.False(t, paused(t, queue.ForType("mail.archive"))) }},
		{"5,000 of one error", "mail.send: # #.#.# system not accepting network messages, id #", func(h *hand) {
			h.click(h.finding("mail.send: # #.#.# system not accepting"))
			h.says("Retry all 5\u202f000…")
			h.click("#all > summary")
			h.click("#all-go")
			h.says("Due again: 5\u202f000 jobs.")
		}, func(t *testing.T) {
			require.Equal(t, map[queue.State]int{queue.StateQueued: 5000}, o.counts(ofType("mail.send")))
		}},
	}
}

// All ten happen at once. Each is found in the first screen of the overview at 1,280 pixels, and mended in at most five
// clicks from there.
func TestTenIncidentsAreFoundAndMended(t *testing.T) {
	b := browsertest.Browse(t)
	o := newOncall(t)
	o.begin()
	b.Size(1280, screenHeight)
	incidents := o.incidents()
	b.Open(o.url)
	for _, scheme := range []string{"light", "dark"} {
		b.Scheme(scheme)
		b.View("incidents-" + scheme)
		require.Empty(t, browsertest.Eval[[]string](b, browsertest.Crooked))
		require.Empty(t, browsertest.Eval[[]string](b, browsertest.Pale))
		b.Size(390, screenHeight)
		b.Picture("incidents-phone-" + scheme)
		require.Empty(t, browsertest.Eval[[]string](b, browsertest.Crooked))
		b.Size(1280, screenHeight)
	}
	for _, i := range incidents {
		(&hand{Browser: b}).sees(i.words)
	}
	for _, i := range incidents {
		h := &hand{Browser: b}
		b.Open(o.url)
		h.sees(i.words)
		i.mend(h)
		i.mended(t)
		t.Logf("%s: %d clicks", i.name, h.clicks)
	}
	b.Quiet()
}
