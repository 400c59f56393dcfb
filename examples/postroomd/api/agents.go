package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view/runs"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/llm/agent"
)

// An agentsAPI shows agents and their runs, and starts, repeats and ends runs.
type agentsAPI struct {
	app *app.App
	of  mailboxes
}

const (
	needsProfile  = "it needs profile, the name of an agent"
	needsSchedule = "it needs cron and prompt"
	needsModel    = "it needs model: llm, llm_better or llm_fallback"

	// maxReplay bounds a replay that a caller waits for.
	maxReplay = 10 * time.Minute
)

func (a agentsAPI) routes() []webapi.Route {
	const one = "/runs/{id}"
	return []webapi.Route{
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/agents", Scope: webapi.See,
			Summary: "List the agents: their profiles, what they have used within 24 hours, and whether they are paused"}, a.list),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/agents/{profile}/resume", Scope: webapi.Approve,
			NoBody: true, Summary: "Let an agent work again that failures have paused"}, a.resume),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/agents/schedules", Scope: webapi.See,
			Account: a.of.byQuery, Summary: "List the schedules by which agents tell something"}, a.schedules),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/agents/{profile}/schedules", Scope: webapi.Own,
			Account: a.of.byBody, Needs: needsSchedule,
			Summary: "Have an agent tell the owner of a mailbox something again and again"}, a.schedule),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/agents/schedules/{id}/remove", Scope: webapi.Own,
			Account: a.bySchedule, NoBody: true, Summary: "Remove a schedule of an agent"}, a.unschedule),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: "/runs", Scope: webapi.See, Account: a.of.byQuery,
			Summary: "List the runs of agents, the newest first, 50 a page"}, a.runs),
		webapi.Handle(webapi.Route{Method: http.MethodGet, Path: one, Scope: webapi.See, Account: a.byRun,
			Summary: "Show a run with its calls and their results"}, a.show),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: one + "/cancel", Scope: webapi.Approve, Account: a.byRun,
			NoBody: true, Summary: "End a run that is under way; no outcome is recorded"}, a.cancel),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: one + "/replay", Scope: webapi.Approve, Account: a.byRun,
			Needs: needsModel, Takes: maxReplay,
			Summary: "Repeat a run with another model, carry nothing out, and return the new run"}, a.replay),
		webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/mail/{mailbox}/{id}/run", Scope: webapi.Approve,
			Account: a.of.byPath, Needs: needsProfile,
			Summary: "Have an agent work on a message; what it wants goes through the gate"}, a.run),
	}
}

func (a agentsAPI) list(r *http.Request, _ webapi.None) (runs.Profiles, error) {
	return runs.NewProfiles(r.Context(), a.app, "")
}

func (a agentsAPI) resume(r *http.Request, _ webapi.None) (v runs.Profile, err error) {
	name := r.PathValue("profile")
	if err := a.app.Agents.Check(name); err != nil {
		return v, notFound(err)
	}
	if err := a.app.Agents.Continue(r.Context(), name); err != nil {
		return v, conflict(err)
	}
	all, err := a.list(r, webapi.None{})
	for _, v = range all.List {
		if v.Name == name {
			break
		}
	}
	return v, err
}

type runQuery struct {
	Mailbox string `jsonschema:"the address of a mailbox; all, if left out"             query:"mailbox"`
	Profile string `jsonschema:"the name of an agent; all, if left out"                 query:"profile"`
	Message string `jsonschema:"only those about the message of this id; needs mailbox" query:"message"`
	Before  string `jsonschema:"next of the page before"                                query:"before"`
}

func (a agentsAPI) runs(r *http.Request, in runQuery) (v runs.Page, err error) {
	account, err := a.of.byQuery(r)
	if err != nil {
		return v, err
	}
	f := agent.Filter{AccountID: cmp.Or(webapi.CallerOf(r).AccountID, account), Profile: in.Profile, Before: in.Before,
		Limit: onPage}
	if in.Message != "" {
		of, err := a.of.one(r, in.Mailbox)
		if err != nil {
			return v, err
		}
		m, err := a.app.FindMessage(r.Context(), of, in.Message)
		if err != nil {
			return v, notFound(err)
		}
		f.AccountID, f.MessageID = m.AccountID, m.ID
	}
	return runs.NewPage(r.Context(), a.app, f)
}

func (a agentsAPI) show(r *http.Request, _ webapi.None) (v runs.Run, err error) {
	run, err := a.find(r)
	if err != nil {
		return v, err
	}
	return runs.New(r.Context(), a.app, &run)
}

func (a agentsAPI) cancel(r *http.Request, _ webapi.None) (v runs.Run, err error) {
	run, err := a.find(r)
	if err != nil {
		return v, err
	}
	if err := a.app.Agents.Stop(r.Context(), run.ID, "canceled by "+webapi.CallerOf(r).Name); err != nil {
		return v, conflict(err)
	}
	return a.show(r, webapi.None{})
}

// A replayBody names the model that repeats a run.
type replayBody struct {
	Model string `json:"model"`
}

func (a agentsAPI) replay(r *http.Request, in replayBody) (v runs.Run, err error) {
	if in.Model == "" {
		return v, webapi.WithStatus(http.StatusBadRequest, errors.New(needsModel))
	}
	run, err := a.find(r)
	if err != nil {
		return v, err
	}
	again, err := a.app.Agents.Replay(r.Context(), run.ID, in.Model)
	_, wrong := errors.AsType[usage.Error](err)
	switch {
	case err == nil:
		return runs.New(r.Context(), a.app, &again)
	case !wrong && !errors.Is(err, postroom.ErrNotFound):
		err = webapi.WithStatus(http.StatusBadGateway, fmt.Errorf("the replay has failed, and is on record: %w", err))
	}
	return v, err
}

// A runBody names the agent that is to work on a message.
type runBody struct {
	Profile string `json:"profile"`
}

func (a agentsAPI) run(r *http.Request, in runBody) (v started, err error) {
	if in.Profile == "" {
		return v, webapi.WithStatus(http.StatusBadRequest, errors.New(needsProfile))
	}
	m, err := mailAPI(a).message(r)
	if err != nil {
		return v, err
	}
	v.JobID, err = a.app.Agents.Run(r.Context(), m, in.Profile)
	return v, err
}

// byRun returns the account of the run of the path.
func (a agentsAPI) byRun(r *http.Request) (string, error) {
	run, err := a.find(r)
	return run.AccountID, err
}

func (a agentsAPI) find(r *http.Request) (agent.Run, error) {
	id := r.PathValue("id")
	run, err := a.app.Agents.Agent.Run(r.Context(), id)
	if errors.Is(err, postroom.ErrNotFound) {
		err = webapi.WithStatus(http.StatusNotFound, fmt.Errorf("there is no run %s: GET runs lists them", id))
	}
	return run, err
}
