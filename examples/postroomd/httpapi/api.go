package httpapi

import (
	"net/http"

	"github.com/postroom-go/postroom/examples/postroomd/api"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/mcp"
)

// withAPI adds the API and what assistants call, each if its token is configured. Each call needs the token, so any
// host name is permitted, and a proxy.
func withAPI(h *app.App, local http.Handler) (http.Handler, error) {
	all := http.NewServeMux()
	all.Handle("/", local)
	if token := h.Env.Config.MCP.Token; token != "" {
		serve := mcp.NewHandler(h, mcp.Caller{Name: "http", Propose: h.Env.Config.MCP.Propose})
		all.Handle("/mcp", api.Authorized(h, "mcp.token", token, serve))
	}
	if h.Env.Config.API.Token == "" {
		return all, nil
	}
	calls, err := api.New(h)
	if err != nil {
		return nil, err
	}
	all.Handle("/api/", calls)
	all.HandleFunc("GET /openapi.json", api.ServeOpenAPI)
	return all, nil
}
