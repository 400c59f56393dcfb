package mcp

import (
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/postroom-go/postroom/examples/postroomd/app"
)

const (
	idleSession = 30 * time.Minute
	maxRequest  = 64 << 10 // bytes
)

// NewHandler returns the handler of the streamable HTTP transport for a caller, whose token was checked before. It
// refuses requests that a page of another site makes a browser send. It has nothing to say unasked, so that it refuses
// to be listened to (GET). A session ends when it was idle for 30 minutes.
func NewHandler(h *app.App, caller Caller) http.Handler {
	serve := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return NewServer(h, caller) },
		&sdk.StreamableHTTPOptions{Logger: h.Log, SessionTimeout: idleSession, MaxRequestBodyBytes: maxRequest,
			JSONResponse: true, DisableLocalhostProtection: true}) // the token stands in for the host name, as for the API
	mux := http.NewServeMux()
	mux.Handle("POST /mcp", serve)
	mux.Handle("DELETE /mcp", serve)
	return http.NewCrossOriginProtection().Handler(mux)
}
