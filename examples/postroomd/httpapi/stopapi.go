package httpapi

import (
	"net/http"

	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/safety"
)

// A stopAPI stops everything, and reports whether everything is stopped.
type stopAPI struct{ httpAPI }

func (a stopAPI) calls() map[string]call {
	return map[string]call{
		"GET " + apiPrefix + "stop":    a.show,
		"POST " + apiPrefix + "stop":   a.stopAll,
		"POST " + apiPrefix + "resume": a.resumeAll,
	}
}

type stopBody struct {
	Why   string `json:"why"`
	Undos bool   `json:"allow_undo"`
}

func (a stopAPI) show(r *http.Request) (any, error) {
	s, err := a.app.Ledger.Stopped(r.Context())
	if err != nil {
		return nil, err
	}
	v := view.Stop{Stopped: s != nil}
	if s != nil {
		v.By, v.Why, v.Undos = s.By, s.Why, s.Undos
		if !s.At.IsZero() {
			v.At = &s.At
		}
	}
	v.Breakers, err = a.app.Stopper.OpenBreakers(r.Context())
	return v, err
}

// stopAll also accepts a call without a body: stopping everything must not fail because of a formality.
func (a stopAPI) stopAll(r *http.Request) (any, error) {
	var body stopBody
	if err := readAnyBody(r, &body); err != nil {
		return nil, err
	}
	if err := a.app.Stopper.Stop(r.Context(), a.app.Env.Config.API.Approver, safety.StopOptions{Why: body.Why, Undos: body.Undos}); err != nil {
		return nil, err
	}
	return a.show(r)
}

func (a stopAPI) resumeAll(r *http.Request) (any, error) {
	var body struct {
		Why string `json:"why"`
	}
	if err := readAnyBody(r, &body); err != nil {
		return nil, err
	}
	if err := a.app.Stopper.Resume(r.Context(), a.app.Env.Config.API.Approver, body.Why); err != nil {
		return nil, err
	}
	return a.show(r)
}

func readAnyBody(r *http.Request, into any) error {
	if r.ContentLength == 0 {
		return nil
	}
	return readBody(r, into)
}
