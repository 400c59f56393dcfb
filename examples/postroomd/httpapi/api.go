package httpapi

import (
	"net/http"

	"github.com/postroom-go/postroom/examples/postroomd/api"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/mcp"
)

// withAPI adds the API and what assistants call, each if its token is configured. Each call needs the token, so any
// host name is permitted, and a proxy. The returned function also ends the streams of events.
func withAPI(h *app.App, local http.Handler, onClose func()) (http.Handler, func(), error) {
	all := http.NewServeMux()
	all.Handle("/", local)
	if token := h.Env.Config.MCP.Token; token != "" {
		serve := mcp.NewHandler(h, mcp.Caller{Name: "http", Propose: h.Env.Config.MCP.Propose})
		all.Handle("/mcp", api.Authorized(h, "mcp.token", token, serve))
	}
	if h.Env.Config.API.Token == "" {
		return all, onClose, nil
	}
	calls, err := api.New(h)
	if err != nil {
		return nil, nil, err
	}
	all.Handle("/api/", calls)
	all.HandleFunc("GET /openapi.json", api.ServeOpenAPI)
	return all, func() { onClose(); calls.Close() }, nil
}
