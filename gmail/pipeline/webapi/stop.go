package webapi

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/postroom-go/postroom/safety/stop"
)

// A Stop reports whether everything is stopped, by whom and since when. A stop by the stop file has no name and no
// time.
type Stop struct {
	Stopped  bool       `json:"stopped"`
	By       string     `json:"by,omitempty"`
	At       *time.Time `json:"at,omitempty"`
	Why      string     `json:"why,omitempty"`
	Undos    bool       `json:"allow_undo,omitempty"`
	Held     string     `json:"held,omitempty"`     // what waits whether anything is stopped or not, and what ends that
	Breakers string     `json:"breakers,omitempty"` // which rules or models are stopped for what they did
}

// A stopAPI stops everything, and reports whether everything is stopped.
type stopAPI struct{ *api }

func stopRoutes(a *api) []Route {
	s := stopAPI{a}
	return []Route{
		Handle(Route{Method: http.MethodGet, Path: "/stop", Scope: See, Account: ByQuery,
			Summary: "Return whether everything is stopped, by whom, when and why"}, s.show),
		Handle(Route{Method: http.MethodPost, Path: "/stop", Scope: Approve, NoBody: true,
			Summary: "Stop everything that changes mailboxes"}, s.stopAll),
		Handle(Route{Method: http.MethodPost, Path: "/resume", Scope: Approve, NoBody: true,
			Summary: "Resume, and close breakers"}, s.resumeAll),
	}
}

type stopBody struct {
	Why   string `json:"why,omitempty"`
	Undos bool   `json:"allow_undo,omitempty"`
}

func (a stopAPI) show(r *http.Request, _ None) (v Stop, err error) {
	s, err := a.Ledger.Switch().Stopped(r.Context())
	if err != nil {
		return v, err
	}
	v = Stop{Stopped: s != nil}
	if s != nil {
		v.By, v.Why, v.Undos = s.By, s.Why, s.Undos
		if !s.At.IsZero() {
			v.At = &s.At
		}
	}
	if a.cfg.Held != nil {
		if v.Held, err = a.cfg.Held(r.Context()); err != nil {
			return v, err
		}
	}
	v.Breakers, err = a.openBreakers(r.Context(), CallerOf(r))
	return v, err
}

func (a stopAPI) openBreakers(ctx context.Context, c Caller) (string, error) {
	open, err := a.Ledger.Breakers().Open(ctx)
	var lines []string
	for i := range open {
		if c.sees(open[i].AccountID) {
			lines = append(lines, "in account "+open[i].AccountID+" "+open[i].String())
		}
	}
	return strings.Join(lines, "\n"), err
}

// stopAll also accepts a call without a body: stopping everything must not fail because of a formality.
func (a stopAPI) stopAll(r *http.Request, body stopBody) (v Stop, err error) {
	if err := mayStop(r); err != nil {
		return v, err
	}
	if err := a.Stop(r.Context(), CallerOf(r).Name, stop.Options{Why: body.Why, Undos: body.Undos}); err != nil {
		return v, err
	}
	return a.show(r, None{})
}

type resumeBody struct {
	Why string `json:"why,omitempty"`
}

func (a stopAPI) resumeAll(r *http.Request, body resumeBody) (v Stop, err error) {
	if err := mayStop(r); err != nil {
		return v, err
	}
	if err := a.Resume(r.Context(), CallerOf(r).Name, body.Why); err != nil {
		return v, err
	}
	return a.show(r, None{})
}

func mayStop(r *http.Request) error {
	if CallerOf(r).AccountID == "" {
		return nil
	}
	return WithStatus(http.StatusForbidden, errors.New("this stops all accounts, and you may act for one"))
}
