package queueui

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"github.com/postroom-go/postroom/internal/webui"
	"github.com/postroom-go/postroom/queue"
)

func (h *Handler) retry(w http.ResponseWriter, r *http.Request)  { h.act(w, r, "retry", h.q.Retry) }
func (h *Handler) cancel(w http.ResponseWriter, r *http.Request) { h.act(w, r, "cancel", h.q.Cancel) }

// act carries out an action on a job and redirects to the job, or shows why it is not possible.
func (h *Handler) act(w http.ResponseWriter, r *http.Request, name string, do func(context.Context, string) error) {
	id := r.PathValue("id")
	err := do(r.Context(), id)
	if err == nil {
		h.cfg.Logger.InfoContext(r.Context(), "queueui: done by hand", "action", name, "job_id", id)
		webui.Redirect(w, "../"+url.PathEscape(id)+"?done="+name)
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
	h.actAll(w, r, "retry-all", func(ctx context.Context, f queue.Filter) (url.Values, error) {
		n, err := h.q.Redrive(ctx, f)
		return url.Values{"n": {strconv.Itoa(n.Queued)}, "taken": {strconv.Itoa(n.KeyTaken)}}, err
	})
}

func (h *Handler) cancelAll(w http.ResponseWriter, r *http.Request) {
	h.actAll(w, r, "cancel-all", func(ctx context.Context, f queue.Filter) (url.Values, error) {
		n, err := h.q.CancelAll(ctx, f)
		return url.Values{"n": {strconv.Itoa(n)}}, err
	})
}

func (h *Handler) actAll(
	w http.ResponseWriter, r *http.Request, name string, do func(context.Context, queue.Filter) (url.Values, error),
) {
	chosen, err := h.form(w, r)
	if err != nil {
		h.failed(w, r, err)
		return
	}
	finished := queue.State(chosen.State).Finished()
	if chosen.State == "" || chosen.State == string(queue.StateCompleted) || finished != (name == "retry-all") {
		h.failed(w, r, badRequestError(
			"Choose a state first: failed or canceled jobs can be retried, queued or running ones canceled."))
		return
	}
	filter := chosen.filter()
	filter.Limit, filter.All = maxAll, true
	report, err := do(r.Context(), filter)
	if err != nil {
		h.failed(w, r, err)
		return
	}
	h.cfg.Logger.InfoContext(r.Context(), "queueui: done by hand", "action", name, "filter", chosen.query().Encode(),
		"jobs", report.Get("n"))
	report.Set("done", name)
	query := chosen.query()
	maps.Copy(query, report)
	webui.Redirect(w, "../jobs?"+query.Encode())
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
		h.problem(w, r, http.StatusNotFound, "Schedule not found",
			"There is no schedule of this name. It may have been removed since.")
	case errors.Is(err, queue.ErrInvalidLimit):
		h.failed(w, r, badRequestError("A type, a limit key or a schedule can be paused and resumed, by its name."))
	case err != nil:
		h.failed(w, r, err)
	default:
		h.cfg.Logger.InfoContext(r.Context(), "queueui: done by hand", "action", name, "kind", kind, "name", what)
		webui.Redirect(w, "./?done="+name)
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
