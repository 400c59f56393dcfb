package queuehealth

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// A status is an answer of the handler.
type status struct {
	Status   string    `json:"status"`
	Error    string    `json:"error,omitempty"`
	At       time.Time `json:"at,omitzero"` // when the findings were found
	Findings []finding `json:"findings,omitempty"`
}

type finding struct {
	Severity queueadmin.Severity `json:"severity"`
	Text     string              `json:"text"`
	Hint     string              `json:"hint,omitempty"`
}

type handler struct {
	cfg      Config
	database *probe[struct{}]
	doctor   *probe[[]queueadmin.Finding]
}

// Handler returns a handler of health checks at /live, /ready and /doctor. cfg may be nil.
func Handler(q *queue.Queue, cfg *Config) (http.Handler, error) {
	c, err := cfg.withDefaults(q)
	if err != nil {
		return nil, err
	}
	h := &handler{cfg: c, database: &probe[struct{}]{ask: answers, q: q, limit: readyPatience},
		doctor: doctorOf(q, c.MaxAge)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /live", h.live)
	mux.HandleFunc("GET /ready", h.ready)
	mux.HandleFunc("GET /doctor", h.examine)
	return mux, nil
}

func (h *handler) live(w http.ResponseWriter, _ *http.Request) {
	write(w, http.StatusOK, status{Status: "ok"})
}

func (h *handler) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), readyPatience)
	defer cancel()
	_, _, err := h.database.look(ctx, readyPatience)
	if err == nil && h.cfg.Ready != nil {
		err = h.cfg.Ready(ctx)
	}
	if err != nil {
		write(w, http.StatusServiceUnavailable, status{Status: "unavailable", Error: err.Error()})
		return
	}
	write(w, http.StatusOK, status{Status: "ok"})
}

func (h *handler) examine(w http.ResponseWriter, r *http.Request) {
	findings, at, err := h.doctor.look(r.Context(), doctorPatience)
	if err != nil {
		write(w, http.StatusServiceUnavailable, status{Status: "unavailable", Error: err.Error()})
		return
	}
	code, s := http.StatusOK, status{Status: string(queueadmin.SeverityOK), At: at}
	for _, f := range findings {
		s.Findings = append(s.Findings, finding{f.Severity, f.Text, f.Hint})
		switch {
		case f.Severity == queueadmin.SeverityProblem:
			code, s.Status = http.StatusServiceUnavailable, string(f.Severity)
		case f.Severity == queueadmin.SeverityWarning && code == http.StatusOK:
			s.Status = string(f.Severity)
		}
	}
	write(w, code, s)
}

func write(w http.ResponseWriter, code int, s status) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(s) //nolint:errchkjson // the client has gone
}
