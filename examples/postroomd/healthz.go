package main

import (
	"cmp"
	"context"
	"embed"
	"net/http"
	"net/http/pprof"
	"strings"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueui"
)

//go:embed migrations
var migrations embed.FS

// migrateProbe makes the table of the row that a health check writes.
func migrateProbe(ctx context.Context, db queue.DB) error {
	return migrate.Up(ctx, db, string(db.Dialect()), "postroomd", migrations)
}

const writeProbe = `
INSERT INTO postroomd_probes (id, written) VALUES (1, 1)
ON CONFLICT (id) DO UPDATE SET written = postroomd_probes.written + 1`

// probePatience is how long a health check waits for the database.
const probePatience = 3 * time.Second

// A health is the response of /healthz and /readyz.
type health struct {
	Status   string `json:"status"` // healthy or unhealthy; of /readyz ready or not ready
	Version  string `json:"version"`
	Database string `json:"database"`           // ok, or what is wrong
	Accounts string `json:"accounts,omitempty"` // of /readyz: ok, or why they are not set up
	Access   string `json:"access,omitempty"`   // of /readyz: the mailboxes that this machine has no access to; another may have
	Stopped  string `json:"stopped,omitempty"`  // who has stopped everything, when and why; that is no fault of health
}

// pages returns everything that postroomd serves: health, the dashboard and profiles.
func (h *host) pages(ready *readiness) (pages http.Handler, onClose func(), err error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		h.answer(w, r, "healthy", "unhealthy", nil)
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		h.answer(w, r, "ready", "not ready", ready)
	})
	if h.env.Config.App.Pprof {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	onClose = func() {}
	if h.env.Config.App.Dashboard {
		ui, err := queueui.New(h.queue, &queueui.Config{Title: "Postroom", Links: []queueui.Link{stopPageLink}, Authorize: h.authorize, Logger: h.log})
		if err != nil {
			return nil, nil, err
		}
		mux.Handle("/", stopPage{h}.beside(ui))
		onClose = ui.Close
	}
	return h.withPush(h.withAPI(byLocalName(mux)), onClose)
}

// withPush adds the handler of Pub/Sub's posts. They come through the user's proxy and so under any host name: each post is
// signed.
func (h *host) withPush(local http.Handler, onClose func()) (pages http.Handler, _ func(), err error) {
	if h.env.Config.Gmail.PushAudience == "" {
		return local, onClose, nil
	}
	receiver, err := h.receiver()
	if err != nil {
		return nil, nil, err
	}
	cfg := gmail.PushConfig{Receiver: receiver, Audience: h.env.Config.Gmail.PushAudience, ServiceAccount: h.env.Config.Gmail.PushAccount, Logger: h.log}
	if base := strings.TrimRight(h.env.Config.Gmail.AuthServer, "/"); base != "" {
		cfg.Issuers, cfg.KeysURL = []string{base}, base+"/oauth2/v3/certs"
	}
	push, err := gmail.NewPushHandler(cfg)
	if err != nil {
		return nil, nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/push/gmail", push)
	mux.Handle("/", local)
	return mux, onClose, nil
}

// receiver handles Gmail's notifications, pushed or pulled.
func (h *host) receiver() (*gmail.Receiver, error) {
	return gmail.NewReceiver(gmail.ReceiverConfig{Queue: h.queue, Store: h.mail, Logger: h.log})
}

func (h *host) answer(w http.ResponseWriter, r *http.Request, good, bad string, ready *readiness) {
	body := health{Status: good, Version: version(), Database: "ok"}
	if err := h.probe(r.Context()); err != nil {
		body.Status, body.Database = bad, err.Error()
	}
	if ready != nil {
		body.Accounts, body.Access = cmp.Or(h.notReady(r.Context(), ready), "ok"), ready.lacking()
		if body.Accounts != "ok" {
			body.Status = bad
		}
	}
	if body.Database == "ok" {
		var err error
		if body.Stopped, err = h.stoppedBy(r.Context()); err != nil {
			body.Status, body.Database = bad, err.Error()
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if body.Status == bad {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	if err := printer.JSON(w, body); err != nil {
		h.log.Warn("a health check is not answered", "error", err)
	}
}

// probe writes a row: a database that can be read and not be written, such as one on a full disk, is of no use.
func (h *host) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	probed := make(chan error, 1)
	go func() {
		probed <- h.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
			_, err := tx.ExecContext(ctx, writeProbe)
			return err
		})
	}()
	select {
	case err := <-probed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
