package api

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/examples/queuectl/jobview"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/queue"
)

// A jobsAPI shows the queue, what models cost, and starts what waits. All of it concerns all mailboxes.
type jobsAPI struct{ app *app.App }

func (a jobsAPI) routes() []webapi.Route {
	return []webapi.Route{
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/status", Scope: webapi.See,
			Summary: "Say how it stands: mailboxes, what waits, what is wrong"}, a.status),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/cost", Scope: webapi.See,
			Summary: "Say what models have cost today and this month, and what is left of budgets"}, a.cost),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/jobs", Scope: webapi.See,
			Summary: "List jobs, newest first, 50 a page"}, a.list),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/jobs/{id}", Scope: webapi.See,
			Summary: "Show a job with its attempts and steps"}, a.show),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/jobs/{id}/retry", Scope: webapi.Own, NoBody: true,
			Summary: "Run a failed or canceled job again"}, a.retry),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/schedules", Scope: webapi.See,
			Summary: "List the schedules"}, a.schedules),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/schedules/{name}/fire", Scope: webapi.Own, NoBody: true,
			Summary: "Fire a schedule now"}, a.fire),
	}
}

func (a jobsAPI) status(r *http.Request, _ webapi.None) (*view.Status, error) {
	return view.NewStatus(r.Context(), a.app)
}

func (a jobsAPI) cost(r *http.Request, _ webapi.None) (*view.Cost, error) {
	return view.NewCost(r.Context(), a.app, time.Now())
}

type jobQuery struct {
	State  string `jsonschema:"queued, running, completed, failed or canceled" query:"state"`
	Type   string `jsonschema:"such as classify"                               query:"type"`
	Before string `jsonschema:"next of the page before"                        query:"before"`
}

type jobList struct {
	Jobs []jobview.Job `json:"jobs"`
	Next string        `json:"next,omitempty"`
}

func (a jobsAPI) list(r *http.Request, in jobQuery) (v jobList, err error) {
	f := queue.Filter{Before: in.Before, Limit: onPage + 1}
	if in.Type != "" {
		f.Types = []string{in.Type}
	}
	if in.State != "" {
		if !slices.Contains(queue.States(), queue.State(in.State)) {
			return v, usage.Errorf("state is %q; it must be one of %q", in.State, queue.States())
		}
		f.States = []queue.State{queue.State(in.State)}
	}
	list, err := a.app.Queue.Jobs(r.Context(), f)
	if err != nil {
		return v, err
	}
	if len(list) > onPage {
		list = list[:onPage]
		v.Next = list[onPage-1].ID
	}
	v.Jobs = printer.List(list, jobview.NewJob)
	return v, nil
}

func (a jobsAPI) show(r *http.Request, _ webapi.None) (v jobview.Job, err error) {
	job, err := a.app.Queue.Job(r.Context(), r.PathValue("id"))
	if err != nil {
		return v, noJob(err)
	}
	attempts, err := a.app.Queue.Attempts(r.Context(), job.ID)
	if err != nil {
		return v, err
	}
	steps, err := a.app.Queue.Steps(r.Context(), job.ID)
	v = jobview.NewJob(*job)
	v.Attempts, v.Steps = printer.List(attempts, jobview.NewAttempt), printer.List(steps, jobview.NewStep)
	return v, err
}

func (a jobsAPI) retry(r *http.Request, _ webapi.None) (v jobview.Job, err error) {
	id := r.PathValue("id")
	if err := a.app.CheckRetry(r.Context(), id); err != nil {
		return v, noJob(err)
	}
	err = a.app.Queue.Retry(r.Context(), id)
	if errors.Is(err, queue.ErrNotFinished) || errors.Is(err, queue.ErrFinished) {
		err = webapi.WithStatus(http.StatusConflict, err)
	}
	if err != nil {
		return v, noJob(err)
	}
	return a.show(r, webapi.None{})
}

func noJob(err error) error {
	if errors.Is(err, queue.ErrJobNotFound) {
		return webapi.WithStatus(http.StatusNotFound, err)
	}
	return err
}

type jobSchedule struct {
	Name   string    `json:"name"`
	Type   string    `json:"type"` // of the job
	Cron   string    `json:"cron"`
	Paused bool      `json:"paused"`
	NextAt time.Time `json:"next_at,omitzero"`
	LastAt time.Time `json:"last_at,omitzero"`
	Fault  string    `json:"fault,omitempty"`
}

type jobScheduleList struct {
	Schedules []jobSchedule `json:"schedules"`
}

func (a jobsAPI) schedules(r *http.Request, _ webapi.None) (v jobScheduleList, err error) {
	list, err := a.app.Queue.Schedules(r.Context())
	v.Schedules = printer.List(list, func(s queue.StoredSchedule) jobSchedule {
		return jobSchedule{s.Name, s.Job.Type, s.Cron, s.Paused, s.NextAt, s.LastAt, s.Fault}
	})
	return v, err
}

func (a jobsAPI) fire(r *http.Request, _ webapi.None) (v started, err error) {
	result, err := a.app.FireSchedule(r.Context(), r.PathValue("name"), webapi.CallerOf(r).Name)
	if errors.Is(err, queue.ErrScheduleNotFound) {
		err = webapi.WithStatus(http.StatusNotFound, err)
	}
	return started{result.ID, result.Duplicate}, err
}
