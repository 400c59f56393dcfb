package queueui

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

func (h *Handler) retry(w http.ResponseWriter, r *http.Request)  { h.act(w, r, "retry", h.q.Retry) }
func (h *Handler) cancel(w http.ResponseWriter, r *http.Request) { h.act(w, r, "cancel", h.q.Cancel) }

// act carries out an action on a job and redirects to the job, or shows why it is not possible.
func (h *Handler) act(w http.ResponseWriter, r *http.Request, name string, do func(context.Context, string) error) {
	id := r.PathValue("id")
	err := do(r.Context(), id)
	if err == nil {
		h.done(w, r, "../"+url.PathEscape(id), url.Values{"done": {name}}, "job_id", id)
		return
	}
	if why := refusal(name, err); why != "" {
		h.problem(w, r, http.StatusConflict, "Not done", why)
		return
	}
	h.failed(w, r, err)
}

// retryAll and cancelAll act on the jobs of a list.
func (h *Handler) retryAll(w http.ResponseWriter, r *http.Request) {
	h.actAll(w, r, "retry-all", func(ctx context.Context, sel queueadmin.Selection) (queueadmin.BulkResult, error) {
		return queueadmin.Retry(ctx, h.q, sel, nil)
	})
}

func (h *Handler) cancelAll(w http.ResponseWriter, r *http.Request) {
	h.actAll(w, r, "cancel-all", func(ctx context.Context, sel queueadmin.Selection) (queueadmin.BulkResult, error) {
		return queueadmin.Cancel(ctx, h.q, sel, "", nil)
	})
}

func (h *Handler) actAll(w http.ResponseWriter, r *http.Request, name string,
	do func(context.Context, queueadmin.Selection) (queueadmin.BulkResult, error),
) {
	chosen, err := h.form(w, r)
	if err != nil {
		h.failed(w, r, err)
		return
	}
	if !slices.Contains(chosen.bulk(), name) {
		h.failed(w, r, badRequestError("Choose a state or a group of errors first: failed or canceled jobs can be retried, "+
			"queued or running ones canceled."))
		return
	}
	sel := chosen.selection()
	sel.Limit, sel.All = maxAll, true
	changed, err := do(r.Context(), sel)
	if err != nil {
		h.failed(w, r, err)
		return
	}
	report := url.Values{"done": {name}, "n": {strconv.Itoa(changed.Changed)}}
	if name == "retry-all" {
		report.Set("taken", strconv.Itoa(changed.KeyTaken))
	}
	query := chosen.query()
	maps.Copy(query, report)
	h.done(w, r, "../jobs", query, "filter", chosen.query().Encode(), "jobs", changed.Changed)
}

// bulk returns what can be done with all jobs of the filter.
func (f jobsFilter) bulk() []string {
	switch state := queue.State(f.State); {
	case f.State == "" && f.Group != "":
		return []string{"retry-all", "cancel-all"}
	case state == queue.StateFailed || state == queue.StateCanceled:
		return []string{"retry-all"}
	case state == queue.StateQueued || state == queue.StateRunning:
		return []string{"cancel-all"}
	}
	return nil
}

func (h *Handler) form(w http.ResponseWriter, r *http.Request) (jobsFilter, error) {
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	if err := r.ParseForm(); err != nil {
		return jobsFilter{}, badRequestError("The form cannot be read.")
	}
	f, err := filterFrom(r.PostForm)
	if f.State == stateMoving {
		return f, badRequestError("Jobs that are being moved are left to the move.")
	}
	return f, err
}

func (h *Handler) pause(w http.ResponseWriter, r *http.Request) {
	h.hold(w, r, "pause", h.q.Pause, h.q.PauseSchedule)
}
func (h *Handler) resume(w http.ResponseWriter, r *http.Request) {
	h.hold(w, r, "resume", h.q.Resume, h.q.ResumeSchedule)
}

// kindSchedule is a kind in addition to the kinds of targets.
const kindSchedule = "schedule"

// hold pauses or resumes a target or a schedule.
func (h *Handler) hold(w http.ResponseWriter, r *http.Request, name string,
	target func(context.Context, queue.Target) error, schedule func(context.Context, string) error,
) {
	if _, err := h.form(w, r); err != nil {
		h.failed(w, r, err)
		return
	}
	kind, what := r.PostForm.Get("kind"), r.PostForm.Get("name")
	var err error
	if kind == kindSchedule {
		err = schedule(r.Context(), what)
	} else {
		err = target(r.Context(), queue.Target{Kind: queue.TargetKind(kind), Name: what})
	}
	switch {
	case errors.Is(err, queue.ErrScheduleNotFound):
		h.noSchedule(w, r)
	case errors.Is(err, queue.ErrInvalidLimit):
		h.failed(w, r, badRequestError("A type, a limit key or a schedule can be paused and resumed, by its name."))
	case err != nil:
		h.failed(w, r, err)
	default:
		h.done(w, r, "./", url.Values{"done": {name}}, "kind", kind, "name", what)
	}
}

// refusal describes why an action is not possible; empty for other errors.
func refusal(name string, err error) string {
	switch {
	case errors.Is(err, queue.ErrFinished) && name == "cancel":
		return "The job has already finished, so that there is nothing to cancel."
	case errors.Is(err, queue.ErrFinished):
		return "The job has completed. Only failed and canceled jobs can be retried."
	case errors.Is(err, queue.ErrNotFinished):
		return "The job is queued or running already."
	case errors.Is(err, queue.ErrKeyConflict):
		return "Another job has taken this job's idempotency key since. Retry it when that one has finished."
	}
	return ""
}
