package queueui

import (
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/webui"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// pageSize is the number of jobs on a list page.
const pageSize = 50

// maxAll bounds the jobs that one click retries or cancels.
const maxAll = 10_000

// maxTrail is the number of pages that one can go back.
const maxTrail = 20

// A jobsPage is a list of jobs, newest first.
type jobsPage struct {
	jobsFilter
	States  []string
	Types   []string // to choose from
	Jobs    []queue.Job
	Moving  map[string]bool // ids of jobs that are being moved
	First   bool            // there is nothing newer
	Newer   template.URL    // the query of the page before; empty on the first
	Older   template.URL    // the query of the next page; empty on the last
	MaxAll  int
	Caption string
	Retry   int // how many jobs can be retried at once, and
	Cancel  int // be canceled
}

// A jobsFilter is the filter that people choose.
type jobsFilter struct {
	State, Type, User, Tag string
	LimitKey               string
	Error                  string // a part of the last error
	Group                  string // the id of a group of errors
}

// filterFrom takes the texts as they are: blanks are a part of names, and a filter that is left out widens an action.
func filterFrom(form url.Values) (jobsFilter, error) {
	f := jobsFilter{State: form.Get("state"), Type: form.Get("type"), User: form.Get("user"), Tag: form.Get("tag"),
		LimitKey: form.Get("limit"), Error: form.Get("error"), Group: form.Get("group")}
	if f.State != "" && !slices.Contains(states(), f.State) {
		return f, badRequestError("The state is queued, running, completed, failed, canceled or moving.")
	}
	if f.Group != "" && !groupIDs.MatchString(f.Group) {
		return f, badRequestError("A group of errors is named by 12 hexadecimal digits.")
	}
	return f, nil
}

// groupIDs matches the ids of groups of errors.
var groupIDs = regexp.MustCompile(`^[0-9a-f]{12}$`)

// states are the states to choose from.
func states() []string {
	var names []string
	for _, s := range queue.States() {
		names = append(names, string(s))
	}
	return append(names, stateMoving)
}

// Narrow reports whether a filter is set.
func (f jobsFilter) Narrow() bool { return f != (jobsFilter{}) }

func (f jobsFilter) filter() queue.Filter {
	filter := queue.Filter{UserID: f.User, LimitKey: f.LimitKey}
	if f.State != "" {
		filter.States = []queue.State{queue.State(f.State)}
	}
	if f.Type != "" {
		filter.Types = []string{f.Type}
	}
	if f.Tag != "" {
		filter.Tags = []string{f.Tag}
	}
	return filter
}

func (f jobsFilter) selection() queueadmin.Selection {
	return queueadmin.Selection{Filter: f.filter(), ErrorContains: f.Error, ErrorGroup: f.Group}
}

// fields are the names and values of the filter in a URL.
func (f jobsFilter) fields() map[string]string {
	return map[string]string{"state": f.State, "type": f.Type, "user": f.User, "tag": f.Tag, "limit": f.LimitKey,
		"error": f.Error, "group": f.Group}
}

// Fields is fields for the templates.
func (f jobsFilter) Fields() map[string]string { return f.fields() }

func (f jobsFilter) query() url.Values {
	query := url.Values{}
	for name, value := range f.fields() {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}

func (h *Handler) jobs(ctx context.Context, u *url.URL) (*view, error) {
	query := u.Query()
	chosen, err := filterFrom(query)
	if err != nil {
		return nil, err
	}
	before := query.Get("before")
	p := &jobsPage{jobsFilter: chosen, States: states(), First: before == "", MaxAll: maxAll}
	if err := h.list(ctx, p, before); err != nil {
		return nil, err
	}
	if p.Types, err = h.types(ctx); err != nil {
		return nil, err
	}
	if err := h.count(ctx, p); err != nil {
		return nil, err
	}
	p.page(before, query.Get("trail"))
	return &view{name: "jobs", title: "Jobs", live: self(u), data: p}, nil
}

// list reads the jobs of the page, and one more if there is one.
func (h *Handler) list(ctx context.Context, p *jobsPage, before string) error {
	moving, err := h.moving(ctx)
	if err != nil {
		return err
	}
	p.Moving = make(map[string]bool, len(moving))
	for _, id := range moving {
		p.Moving[id] = true
	}
	if p.State == stateMoving {
		p.Jobs, err = h.movingJobs(ctx, moving, p.jobsFilter, before)
		return err
	}
	sel := p.selection()
	sel.Before, sel.Limit, sel.All = before, pageSize+1, true
	if p.Error+p.Group == "" {
		p.Jobs, err = h.q.Jobs(ctx, sel.Filter)
		return err
	}
	for ids, err := range queueadmin.Selected(ctx, h.q, sel, pageSize+1) {
		if err != nil {
			return err
		}
		for _, id := range ids {
			job, err := h.q.Job(ctx, id)
			if err == nil {
				p.Jobs = append(p.Jobs, *job)
			} else if !errors.Is(err, queue.ErrJobNotFound) {
				return err
			}
		}
	}
	return nil
}

// count counts the jobs that can be retried or canceled together.
func (h *Handler) count(ctx context.Context, p *jobsPage) error {
	if len(p.bulk()) == 0 || h.cfg.ReadOnly {
		return nil
	}
	counts, err := queueadmin.Count(ctx, h.q, p.selection())
	p.Retry = counts[queue.StateFailed] + counts[queue.StateCanceled]
	p.Cancel = counts[queue.StateQueued] + counts[queue.StateRunning]
	return err
}

// types returns the types that have jobs.
func (h *Handler) types(ctx context.Context) ([]string, error) {
	stats, err := queueadmin.ReadStats(ctx, h.q, &queueadmin.StatsRequest{Window: time.Minute, MaxCount: 1})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(stats.Types))
	for i := range stats.Types {
		names[i] = stats.Types[i].Type
	}
	return names, nil
}

// page makes the links to the previous and next pages. The trail is the list of earlier pages: jobs are found from
// newer to older only.
func (p *jobsPage) page(before, trail string) {
	ids := strings.FieldsFunc(trail, func(r rune) bool { return r == ',' })
	if !p.First {
		newer := p.query()
		if n := len(ids); n > 0 {
			newer.Set("before", ids[n-1])
			newer.Set("trail", strings.Join(ids[:n-1], ","))
		}
		p.Newer = encoded(newer)
		ids = append(ids, before)
	}
	if len(p.Jobs) > pageSize {
		p.Jobs = p.Jobs[:pageSize]
		older := p.query()
		older.Set("before", p.Jobs[pageSize-1].ID)
		older.Set("trail", strings.Join(ids[max(0, len(ids)-maxTrail):], ","))
		p.Older = encoded(older)
	}
	p.Caption = jobCount(len(p.Jobs)) + ", newest first"
}

func encoded(query url.Values) template.URL {
	if query.Get("trail") == "" {
		query.Del("trail")
	}
	return template.URL(query.Encode()) //nolint:gosec // nothing in it has a special meaning
}

// find redirects to the job with an id.
func (h *Handler) find(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimSpace(r.URL.Query().Get("id"))
	if id == "" {
		webui.Redirect(w, "jobs")
		return
	}
	webui.Redirect(w, "jobs/"+url.PathEscape(id))
}
