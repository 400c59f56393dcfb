package queuetest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// A state is the end of a run as text: lines by subject. Their order does not matter.
type state map[string][]string

const (
	aboutOutside = "outside"
	aboutJobs    = "jobs"
	aboutSteps   = "steps"
	aboutFlows   = "flows"
	aboutSignals = "signals"
	aboutTable   = "table "
)

// state returns the state of the run. exact includes identifiers and instants.
func (r *run) state(exact bool) state {
	s := state{}
	add := func(about, line string) {
		if !exact {
			line = mask(line)
		}
		s[about] = append(s[about], line)
	}
	if r.scenario.Outside != nil {
		for _, line := range r.scenario.Outside() {
			add(aboutOutside, line)
		}
	}
	for _, job := range r.jobs() {
		line := describe(&job)
		if exact {
			line += fmt.Sprintf(" attempt=%d updated_at=%s", job.Attempt, dbtime.Format(job.UpdatedAt))
		}
		add(aboutJobs, line)
		steps, err := r.q.Steps(r.Context(), job.ID)
		require.NoError(r, err)
		for _, step := range steps {
			add(aboutSteps, fmt.Sprintf("%s of %s %s: %s", step.Name, job.Type, job.Payload,
				orWord(string(step.Result), "unfinished")))
		}
		signals, err := r.q.Signals(r.Context(), job.ID)
		require.NoError(r, err)
		for _, s := range signals {
			add(aboutSignals, fmt.Sprintf("%s %d of %s %s: %s", s.Name, s.Number, job.Type, job.Payload, answerOf(&s)))
		}
	}
	for _, line := range r.flows() {
		add(aboutFlows, line)
	}
	for _, table := range slices.Sorted(maps.Keys(r.tables())) {
		if !slices.Contains(r.ours, table) && !slices.Contains(r.scenario.Ignore, table) {
			for _, line := range r.rows(table) {
				add(aboutTable+table, line)
			}
		}
	}
	return s
}

func answerOf(s *queue.SignalRecord) string {
	if s.AnsweredAt.IsZero() {
		return "awaited"
	}
	return orWord(string(s.Payload), "did not come")
}

func orWord(s, word string) string {
	if s == "" {
		return word
	}
	return s
}

// flows describes the nodes of all flows.
func (r *run) flows() (lines []string) {
	store, ok := driver.As[driver.FlowStore](r.q.DB().Driver())
	if !ok {
		return nil
	}
	for before := ""; ; {
		flows, err := store.Flows(r.Context(), before, flowsRead)
		require.NoError(r, err)
		for i := range flows {
			f := &flows[i]
			before = f.ID
			nodes, err := store.Nodes(r.Context(), f.ID)
			require.NoError(r, err)
			for _, n := range nodes {
				lines = append(lines, fmt.Sprintf("%s %s: %s %s, %d jobs, %d completed, %d failed, %d canceled", f.Name, f.State,
					n.Name, n.State, n.Total, n.Completed, n.Failed, n.Canceled))
			}
		}
		if len(flows) < flowsRead {
			return lines
		}
	}
}

// flowsRead is the number of flows that are read at a time.
const flowsRead = 100

func describe(job *queue.Job) string {
	line := fmt.Sprintf("%s %s %s", job.Type, job.Payload, job.State)
	if job.Priority != 0 {
		line += fmt.Sprintf(" priority=%d", job.Priority)
	}
	if job.Key.Name != "" {
		line += fmt.Sprintf(" key=%q scope=%s", job.Key.Name, job.Key.Scope)
	}
	if job.Node != "" {
		line += " node=" + job.Node
	}
	if job.Result != nil {
		line += " result=" + string(job.Result)
	}
	return line
}

func (r *run) jobs() []queue.Job {
	var all []queue.Job
	filter := queue.Filter{Limit: 1000}
	for {
		jobs, err := r.q.Jobs(r.Context(), filter)
		require.NoError(r, err)
		all = append(all, jobs...)
		if len(jobs) < filter.Limit {
			return all
		}
		filter.Before = jobs[len(jobs)-1].ID
	}
}

// tables returns the columns of all tables, by their names.
func (r *run) tables() map[string][]string {
	lister, ok := driver.As[driver.TableLister](r.q.DB().Driver())
	require.True(r, ok, "queuetest: the database cannot list its tables")
	tables, err := lister.Tables(r.Context())
	require.NoError(r, err)
	return tables
}

func (r *run) rows(table string) []string {
	quoted := `"` + strings.ReplaceAll(table, `"`, `""`) + `"`
	rows, err := r.q.DB().Reader().QueryxContext(r.Context(), "SELECT * FROM "+quoted) //nolint:unqueryvet // whatever there is
	require.NoError(r, err)
	defer func() { require.NoError(r, rows.Close()) }()
	columns, err := rows.Columns()
	require.NoError(r, err)
	var lines []string
	for rows.Next() {
		values, err := rows.SliceScan()
		require.NoError(r, err)
		var cells []string
		for i, column := range columns {
			if !slices.Contains(r.scenario.Ignore, table+"."+column) {
				cells = append(cells, column+"="+cell(values[i]))
			}
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	require.NoError(r, rows.Err())
	return lines
}

func cell(value any) string {
	switch v := value.(type) {
	case nil:
		return "NULL"
	case string:
		return fmt.Sprintf("%q", v)
	case []byte:
		return fmt.Sprintf("%q", v)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	}
	return fmt.Sprint(value)
}

// checkIgnored refuses misspelled names.
func (r *run) checkIgnored() {
	tables := r.tables()
	for _, ignored := range r.scenario.Ignore {
		table, column, one := strings.Cut(ignored, ".")
		columns, found := tables[table]
		if !found || one && !slices.Contains(columns, column) || slices.Contains(r.ours, table) {
			r.Fatalf("queuetest: Scenario.Ignore names %q; the scenario makes no such table or column", ignored)
		}
	}
}

var (
	uuids    = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)
	instants = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
)

// mask hides values that differ in each run.
func mask(line string) string {
	return instants.ReplaceAllString(uuids.ReplaceAllString(line, "(id)"), "(time)")
}

// diff lists, one a line, the missing and the additional lines of got; empty if there are none.
func diff(want, got state) string {
	var out strings.Builder
	both := maps.Clone(want)
	maps.Copy(both, got)
	for _, about := range slices.Sorted(maps.Keys(both)) {
		missing, tooMuch := without(want[about], got[about]), without(got[about], want[about])
		if len(missing) == 1 && len(tooMuch) == 1 {
			missing[0], tooMuch[0] = shorten(missing[0], tooMuch[0])
		}
		for _, line := range missing {
			fmt.Fprintf(&out, "  %s: missing: %s\n", about, line)
		}
		for _, line := range tooMuch {
			fmt.Fprintf(&out, "  %s: too much: %s\n", about, line)
		}
	}
	return out.String()
}

// maxShown is the length up to which two lines are shown in full.
const maxShown = 200

// shorten reduces two long lines to the words from the first to the last difference.
func shorten(a, b string) (shortA, shortB string) {
	if len(a) <= maxShown && len(b) <= maxShown {
		return a, b
	}
	as, bs := strings.Split(a, " "), strings.Split(b, " ")
	same, most := 0, min(len(as), len(bs))
	for same < most && as[same] == bs[same] {
		same++
	}
	as, bs, most = as[same:], bs[same:], most-same
	tail := 0
	for tail < most && as[len(as)-1-tail] == bs[len(bs)-1-tail] {
		tail++
	}
	cut := func(words []string) string {
		line := strings.Join(words[:len(words)-tail], " ")
		if same > 0 {
			line = "… " + line
		}
		if tail > 0 {
			line += " …"
		}
		return line
	}
	return cut(as), cut(bs)
}

// without returns all, less one equal element for each of others.
func without(all, others []string) []string {
	taken := make(map[string]int)
	for _, line := range others {
		taken[line]++
	}
	var left []string
	for _, line := range slices.Sorted(slices.Values(all)) {
		if taken[line] > 0 {
			taken[line]--
			continue
		}
		left = append(left, line)
	}
	return left
}
