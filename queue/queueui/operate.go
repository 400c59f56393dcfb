package queueui

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/webui"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/flow"
)

// done logs what a person has done, and goes to a page that says so.
func (h *Handler) done(w http.ResponseWriter, r *http.Request, to string, report url.Values, attrs ...any) {
	h.look.change()
	h.cfg.Logger.InfoContext(r.Context(), "queueui: done by hand",
		append([]any{"action", report.Get("done")}, attrs...)...)
	webui.Redirect(w, to+"?"+report.Encode())
}

// fire enqueues the job of a schedule now.
func (h *Handler) fire(w http.ResponseWriter, r *http.Request) {
	if _, err := h.form(w, r); err != nil {
		h.failed(w, r, err)
		return
	}
	name := r.PostForm.Get("name")
	fired, err := h.q.FireSchedule(r.Context(), name)
	switch {
	case errors.Is(err, queue.ErrScheduleNotFound):
		h.noSchedule(w, r)
	case err != nil:
		h.problem(w, r, http.StatusConflict, "Not done", "The schedule cannot fire: "+err.Error())
	case fired.Duplicate:
		h.problem(w, r, http.StatusConflict, "Not done",
			"The schedule keeps its jobs from overlapping, and an earlier one has not ended.")
	default:
		h.done(w, r, "./jobs/"+url.PathEscape(fired.ID), url.Values{"done": {"fire"}}, "name", name, "job_id", fired.ID)
	}
}

func (h *Handler) noSchedule(w http.ResponseWriter, r *http.Request) {
	h.problem(w, r, http.StatusNotFound, "Schedule not found",
		"There is no schedule of this name. It may have been removed since.")
}

// release gives back the jobs of a worker that has died.
func (h *Handler) release(w http.ResponseWriter, r *http.Request) {
	if _, err := h.form(w, r); err != nil {
		h.failed(w, r, err)
		return
	}
	worker := r.PostForm.Get("name")
	jobs, err := h.q.ReleaseWorker(r.Context(), worker)
	if err != nil {
		h.failed(w, r, err)
		return
	}
	h.done(w, r, "./", url.Values{"done": {"release"}, "n": {strconv.Itoa(jobs)}}, "worker_id", worker)
}

// limit sets a limit, or removes one whose fields are all empty.
func (h *Handler) limit(w http.ResponseWriter, r *http.Request) {
	if _, err := h.form(w, r); err != nil {
		h.failed(w, r, err)
		return
	}
	target := queue.Target{Kind: queue.TargetKind(r.PostForm.Get("kind")), Name: r.PostForm.Get("name")}
	limit, err := limitFrom(r.PostForm)
	done := "limit"
	switch {
	case err != nil:
	case limit == (queue.Limit{}):
		done = "no-limit"
		err = h.q.RemoveLimit(r.Context(), target)
	default:
		err = h.q.SetLimit(r.Context(), target, limit)
	}
	if errors.Is(err, queue.ErrInvalidLimit) {
		err = badRequestError(err.Error())
	}
	if err != nil {
		h.failed(w, r, err)
		return
	}
	h.done(w, r, "./", url.Values{"done": {done}}, "kind", target.Kind, "name", target.Name, "limit", limit)
}

func limitFrom(form url.Values) (limit queue.Limit, err error) {
	for name, to := range map[string]*int{"max": &limit.MaxRunning, "rate": &limit.Rate, "burst": &limit.Burst} {
		if text := strings.TrimSpace(form.Get(name)); text != "" {
			if *to, err = strconv.Atoi(text); err != nil {
				return limit, badRequestError("A limit is made of whole numbers, not " + strconv.Quote(text) + ".")
			}
			if *to == 0 {
				return limit, badRequestError("A limit is at least 1. An empty field is no limit; pause what is not to run.")
			}
		}
	}
	if text := strings.TrimSpace(form.Get("per")); text != "" && limit.Rate != 0 {
		if limit.Per, err = time.ParseDuration(text); err != nil {
			return limit, badRequestError("The time of a rate is a number with a unit, such as 1s, 5m or 24h, not " +
				strconv.Quote(text) + ".")
		}
	}
	if limit.Rate == 0 {
		limit.Burst = 0
	}
	return limit, nil
}

func (h *Handler) retryFlow(w http.ResponseWriter, r *http.Request) {
	h.actFlow(w, r, "retry-flow", flow.Retry)
}

func (h *Handler) cancelFlow(w http.ResponseWriter, r *http.Request) {
	h.actFlow(w, r, "cancel-flow", flow.Cancel)
}

func (h *Handler) actFlow(w http.ResponseWriter, r *http.Request, name string,
	do func(ctx context.Context, q *queue.Queue, id string) error,
) {
	id := r.PathValue("id")
	err := flow.ErrNotFound
	if isText(id) {
		err = do(r.Context(), h.q, id)
	}
	switch {
	case errors.Is(err, queue.ErrFinished), errors.Is(err, queue.ErrNotFinished):
		h.problem(w, r, http.StatusConflict, "Not done",
			"A flow that runs can be canceled, and one that has ended, or stands still, with failed or canceled jobs retried.")
	case err != nil:
		h.failed(w, r, err)
	default:
		h.done(w, r, "../"+url.PathEscape(id), url.Values{"done": {name}}, "flow_id", id)
	}
}
