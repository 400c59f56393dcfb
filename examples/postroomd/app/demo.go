package app

import (
	"context"
	"errors"
	"net/http"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/queue"
)

// startGmail starts the Gmail of a demo.
func (h *App) startGmail(ctx context.Context) (err error) {
	h.Server, err = gmailtest.Open(ctx, gmailtest.Config{Dir: h.Env.Folder.Gmail(), Email: h.Env.Config.Gmail.Address,
		Token: string(h.Env.Config.Gmail.Token)})
	if err == nil {
		h.Env.Config.Gmail.Endpoint = h.Server.URL()
		h.Env.Values = config.Values(h.Env.Config, "the demo")
	}
	return err
}

// A noNetwork makes none of the requests that leave mailing lists: a demo reaches nobody, and does not say it has.
type noNetwork struct{}

var errDemoAsksNobody = errors.New("this is a demo, which asks nobody on the network: nothing was sent, and the list " +
	"is not left")

// RoundTrip implements [http.RoundTripper].
func (noNetwork) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return nil, queue.Fatal(errDemoAsksNobody)
}

// closeGmail ends the Gmail of a demo.
func (h *App) closeGmail() error {
	if h.Server == nil {
		return nil
	}
	return h.Server.Close()
}
