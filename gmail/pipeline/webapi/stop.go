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
	Breakers string     `json:"breakers,omitempty"` // which rules or models are stopped for what they did
}

// A stopAPI stops everything, and reports whether everything is stopped.
type stopAPI struct{ *api }

func stopCalls(a *api) map[string]Call {
	s, prefix := stopAPI{a}, a.cfg.Prefix
	return map[string]Call{
		"GET " + prefix + "/stop":    s.show,
		"POST " + prefix + "/stop":   s.stopAll,
		"POST " + prefix + "/resume": s.resumeAll,
	}
}

type stopBody struct {
	Why   string `json:"why"`
	Undos bool   `json:"allow_undo"`
}

func (a stopAPI) show(r *http.Request) (any, error) {
	s, err := a.Ledger.Switch().Stopped(r.Context())
	if err != nil {
		return nil, err
	}
	v := Stop{Stopped: s != nil}
	if s != nil {
		v.By, v.Why, v.Undos = s.By, s.Why, s.Undos
		if !s.At.IsZero() {
			v.At = &s.At
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
func (a stopAPI) stopAll(r *http.Request) (any, error) {
	var body stopBody
	if err := a.read(r, &body); err != nil {
		return nil, err
	}
	err := a.Stop(r.Context(), CallerOf(r).Name, stop.Options{Why: body.Why, Undos: body.Undos})
	if err != nil {
		return nil, err
	}
	return a.show(r)
}

func (a stopAPI) resumeAll(r *http.Request) (any, error) {
	var body struct {
		Why string `json:"why"`
	}
	if err := a.read(r, &body); err != nil {
		return nil, err
	}
	if err := a.Resume(r.Context(), CallerOf(r).Name, body.Why); err != nil {
		return nil, err
	}
	return a.show(r)
}

// read reads the body, if there is one, of a caller who may stop all accounts.
func (a stopAPI) read(r *http.Request, into any) error {
	if CallerOf(r).AccountID != "" {
		return WithStatus(http.StatusForbidden, errors.New("this stops all accounts, and you may act for one"))
	}
	if r.ContentLength == 0 {
		return nil
	}
	return ReadBody(r, into)
}
