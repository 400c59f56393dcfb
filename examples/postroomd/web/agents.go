package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/agents"
	"github.com/postroom-go/postroom/examples/postroomd/scripted"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view/runs"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/llm/agent"
)

const (
	maxReplay = 10 * time.Minute

	runsOnPage    = 50 // on the page of agents
	runsOfMessage = 10 // on the page of a message
)

// An agentsPage lists the agents, and their runs.
type agentsPage struct {
	runs.Page
	Profiles  []runs.Profile
	Schedules []runs.Schedule
	Profile   string // the runs are of this one; empty: of all
	Mailbox   string
	Mailboxes []mailstore.Account
	Older     string // the query of the next page; empty on the last one
	Later     bool   // it is not the first page
	Note      string // whose words the agents' are, in a demo; empty: those of the models
}

// hasAgents reports whether there are agents.
func (h *Handler) hasAgents() bool { return len(h.app.Env.Profiles()) > 0 }

func (h *Handler) agents(ctx context.Context, u *url.URL) (*view, error) {
	query := u.Query()
	page := &agentsPage{Profile: query.Get("profile"), Mailbox: query.Get("mailbox"), Later: query.Get("before") != ""}
	var err error
	if page.Mailboxes, err = h.accounts(ctx); err != nil {
		return nil, err
	}
	accountID := ""
	if page.Mailbox != "" {
		account, err := h.mailbox(ctx, page.Mailbox)
		if err != nil {
			return nil, err
		}
		accountID = account.ID
	}
	profiles, err := runs.NewProfiles(ctx, h.app, accountID)
	if err != nil {
		return nil, err
	}
	page.Profiles = profiles.List
	if h.scripted() && len(page.Profiles) > 0 {
		page.Note = scripted.AgentNote
	}
	schedules, err := runs.NewSchedules(ctx, h.app, accountID)
	if err != nil {
		return nil, err
	}
	page.Schedules = schedules.List
	page.Page, err = runs.NewPage(ctx, h.app, agent.Filter{AccountID: accountID, Profile: page.Profile,
		Before: query.Get("before"), Limit: runsOnPage})
	if page.Next != "" {
		page.Older = page.query(page.Profile, page.Next)
	}
	return &view{name: "agents", title: "Agents", live: true, data: page}, err
}

// Of is the query of the first page of the runs of an agent; an empty name is all of them.
func (p *agentsPage) Of(profile string) string { return p.query(profile, "") }

func (p *agentsPage) query(profile, before string) string {
	query := url.Values{}
	for name, value := range map[string]string{"profile": profile, "mailbox": p.Mailbox, "before": before} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return "?" + query.Encode()
}

// A runPage shows a run.
type runPage struct {
	runs.Run

	Models []string // that can repeat it; none while it is at work
}

func (h *Handler) run(ctx context.Context, r *http.Request) (*view, error) {
	found, err := h.app.Agents.Agent.Run(ctx, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	v, err := runs.New(ctx, h.app, &found)
	page := &runPage{Run: v}
	if err == nil && !v.Running() {
		page.Models = h.app.Agents.Models()
	}
	return &view{name: "run", title: "A run of " + v.Profile, data: page}, err
}

// ofRun is about the mailbox of a run.
func (h *Handler) ofRun(r *http.Request) ([]string, error) {
	found, err := h.app.Agents.Agent.Run(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return h.email(r.Context(), found.AccountID)
}

func (h *Handler) cancelRun(w http.ResponseWriter, r *http.Request) {
	h.done(w, r, "cancel-run", h.app.Agents.Stop(r.Context(), r.PathValue("id"), "canceled by "+by(r)))
}

// replayRun repeats a run with a model, which takes as long as a run, and shows the new one.
func (h *Handler) replayRun(w http.ResponseWriter, r *http.Request) {
	// The server's own limits are for pages, and a browser that goes away does not end the run.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(maxReplay + time.Minute))
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), maxReplay)
	defer cancel()
	again, err := h.app.Agents.Replay(ctx, r.PathValue("id"), r.PostFormValue("model"))
	if _, wrong := errors.AsType[usage.Error](err); err != nil && !wrong && !errors.Is(err, postroom.ErrNotFound) {
		err = usage.Errorf("The replay has failed, and is among the runs: %w", err)
	}
	if err != nil {
		h.failed(w, r, err)
		return
	}
	r.PostForm.Set("from", "/agents/runs/"+again.ID)
	back(w, r, "replay-run")
}

func (h *Handler) resumeAgent(w http.ResponseWriter, r *http.Request) {
	h.done(w, r, "resume-agent", h.app.Agents.Continue(r.Context(), r.PathValue("profile")))
}

// scheduleAgent has an agent tell the owner of a mailbox something again and again.
func (h *Handler) scheduleAgent(w http.ResponseWriter, r *http.Request) {
	account, err := h.mailbox(r.Context(), r.PostForm.Get("mailbox"))
	if err == nil {
		_, err = h.app.Agents.Schedule(r.Context(), agents.NewSchedule{AccountID: account.ID,
			Profile: r.PostForm.Get("profile"),
			Prompt:  r.PostForm.Get("prompt"), Cron: r.PostForm.Get("cron"), Zone: cmp.Or(zoneNamed(r), h.app.Zone())})
	}
	h.done(w, r, "schedule-agent", err)
}

func (h *Handler) unscheduleAgent(w http.ResponseWriter, r *http.Request) {
	h.done(w, r, "unschedule-agent", h.app.Agents.Unschedule(r.Context(), r.PathValue("id")))
}

// ofSchedule is about the mailbox of a schedule.
func (h *Handler) ofSchedule(r *http.Request) ([]string, error) {
	s, err := h.app.Agents.FindSchedule(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return h.email(r.Context(), s.AccountID)
}

// runAgent has an agent work on a message.
func (h *Handler) runAgent(w http.ResponseWriter, r *http.Request) {
	_, m, err := h.storedMessage(r.Context(), r)
	if err == nil {
		_, err = h.app.Agents.Run(r.Context(), m, r.PostFormValue("profile"))
	}
	h.done(w, r, "run-agent", err)
}

// addRuns adds the agents that may work on a message, and the runs of those that have.
func (h *Handler) addRuns(ctx context.Context, page *messagePage, m *postroom.Message) error {
	for _, p := range h.app.Env.Profiles() {
		page.Profiles = append(page.Profiles, p.Name)
	}
	list, err := runs.NewPage(ctx, h.app, agent.Filter{AccountID: m.AccountID, MessageID: m.ID, Limit: runsOfMessage})
	page.Runs = list.List
	return err
}
