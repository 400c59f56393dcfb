package mcp

import (
	"context"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/postroom-go/postroom/examples/postroomd/app"
)

const (
	idleSession = 30 * time.Minute
	maxRequest  = 64 << 10 // bytes
)

// NewHandler returns the handler of the streamable HTTP transport; caller returns who makes a request, whose token was
// checked before. A session belongs to the caller who has begun it. The handler refuses requests that a page of another
// site makes a browser send. It has nothing to say unasked, so that it refuses to be listened to (GET). A session ends
// when it was idle for 30 minutes.
func NewHandler(h *app.App, caller func(*http.Request) Caller) http.Handler {
	serve := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server { return NewServer(h, caller(r)) },
		&sdk.StreamableHTTPOptions{Logger: h.Log, SessionTimeout: idleSession, MaxRequestBodyBytes: maxRequest,
			JSONResponse: true, DisableLocalhostProtection: true}) // the token stands in for the host name, as for the API
	// The session is bound to what this says of the token, which was checked before.
	bound := auth.RequireBearerToken(func(_ context.Context, _ string, r *http.Request) (*auth.TokenInfo, error) {
		return &auth.TokenInfo{UserID: caller(r).Name, Expiration: time.Now().Add(idleSession)}, nil
	}, nil)(serve)
	mux := http.NewServeMux()
	checked := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer checked") // a token with a space would be none to the SDK
		bound.ServeHTTP(w, r)
	})
	mux.Handle("POST /mcp", checked)
	mux.Handle("DELETE /mcp", checked)
	return http.NewCrossOriginProtection().Handler(mux)
}
