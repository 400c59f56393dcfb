package main

import (
	"net/http"
	"time"

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

// A stopView reports whether everything is stopped, by whom and since when. A stop by the stop file has no name and no time.
type stopView struct {
	Stopped  bool       `json:"stopped"`
	By       string     `json:"by,omitempty"`
	At       *time.Time `json:"at,omitempty"`
	Why      string     `json:"why,omitempty"`
	Undos    bool       `json:"allow_undo,omitempty"`
	Breakers string     `json:"breakers,omitempty"` // which rules or models are stopped for what they did
}

type stopBody struct {
	Why   string `json:"why"`
	Undos bool   `json:"allow_undo"`
}

func (a stopAPI) show(r *http.Request) (any, error) {
	s, err := a.app.ledger.Stopped(r.Context())
	if err != nil {
		return nil, err
	}
	v := stopView{Stopped: s != nil}
	if s != nil {
		v.By, v.Why, v.Undos = s.By, s.Why, s.Undos
		if !s.At.IsZero() {
			v.At = &s.At
		}
	}
	v.Breakers, err = a.app.openBreakers(r.Context())
	return v, err
}

// stopAll also accepts a call without a body: stopping everything must not fail because of a formality.
func (a stopAPI) stopAll(r *http.Request) (any, error) {
	var body stopBody
	if err := readAnyBody(r, &body); err != nil {
		return nil, err
	}
	if err := a.app.stop(r.Context(), a.app.env.Config.API.Approver, safety.StopOptions{Why: body.Why, Undos: body.Undos}); err != nil {
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
	if err := a.app.resume(r.Context(), a.app.env.Config.API.Approver, body.Why); err != nil {
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
