package api

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/agents"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view/runs"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
)

type scheduleQuery struct {
	Mailbox string `jsonschema:"the address of a mailbox; all, if left out" query:"mailbox"`
}

func (a agentsAPI) schedules(r *http.Request, _ scheduleQuery) (v runs.Schedules, err error) {
	account, err := a.of.byQuery(r)
	if err != nil {
		return v, err
	}
	return runs.NewSchedules(r.Context(), a.app, cmp.Or(webapi.CallerOf(r).AccountID, account))
}

type scheduleBody struct {
	Mailbox string `json:"mailbox,omitempty" jsonschema:"address of the mailbox; may be left out where there is one"`
	Prompt  string `json:"prompt"            jsonschema:"what to tell"`
	Cron    string `json:"cron"              jsonschema:"when: minute, hour, day of month, month and day of week"`
	Zone    string `json:"zone,omitempty"    jsonschema:"the time zone; that of the configuration, if left out"`
	Since   string `json:"since,omitempty"   jsonschema:"how far back what came and was done is told of; 24h, if left out"`
}

func (a agentsAPI) schedule(r *http.Request, in scheduleBody) (v runs.Schedule, err error) {
	name := r.PathValue("profile")
	if err := a.app.Agents.Check(name); err != nil {
		return v, notFound(err)
	}
	account, err := a.of.one(r, in.Mailbox)
	if err != nil {
		return v, err
	}
	n := agents.NewSchedule{AccountID: account.ID, Profile: name, Prompt: in.Prompt, Cron: in.Cron,
		Zone: cmp.Or(in.Zone, a.app.Zone())}
	if in.Since != "" {
		if n.Since, err = time.ParseDuration(in.Since); err != nil {
			return v, usage.Errorf("since is %q; write a time such as 24h", in.Since)
		}
	}
	made, err := a.app.Agents.Schedule(r.Context(), n)
	if err != nil {
		return v, err
	}
	return runs.NewSchedule(r.Context(), a.app, made)
}

func (a agentsAPI) unschedule(r *http.Request, _ webapi.None) (v runs.Schedule, err error) {
	s, err := a.app.Agents.FindSchedule(r.Context(), r.PathValue("id"))
	if err == nil {
		err = a.app.Agents.Unschedule(r.Context(), s.ID)
	}
	if err != nil {
		return v, noSchedule(err)
	}
	return runs.NewSchedule(r.Context(), a.app, s)
}

// bySchedule returns the account of the schedule of the path.
func (a agentsAPI) bySchedule(r *http.Request) (string, error) {
	s, err := a.app.Agents.FindSchedule(r.Context(), r.PathValue("id"))
	return s.AccountID, noSchedule(err)
}

func noSchedule(err error) error {
	if errors.Is(err, postroom.ErrNotFound) {
		return webapi.WithStatus(http.StatusNotFound, fmt.Errorf("there is no such schedule: %w", err))
	}
	return err
}
