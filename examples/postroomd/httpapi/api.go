package httpapi

import (
	"net/http"

	"github.com/postroom-go/postroom/examples/postroomd/api"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/mcp"
	"github.com/postroom-go/postroom/examples/postroomd/tokens"
)

// withAPI adds the API, and what assistants call if the token of assistants is configured. Each call needs the token,
// so any host name is permitted, and a proxy. The returned function also ends the streams of events.
func withAPI(h *app.App, local http.Handler, onClose func()) (http.Handler, func(), error) {
	all := http.NewServeMux()
	all.Handle("/", local)
	if token := h.Env.Config.MCP.Token; token != "" {
		own := tokens.Token{Name: "http", Scope: tokens.See}
		if h.Env.Config.MCP.Propose {
			own.Scope = tokens.Propose
		}
		all.Handle("/mcp", api.NewAccess(h, "mcp.token", token, own).Require(mcp.NewHandler(h, assistant)))
	}
	calls, err := api.New(h)
	if err != nil {
		return nil, nil, err
	}
	all.Handle("/api/", calls)
	all.HandleFunc("GET /openapi.json", api.ServeOpenAPI)
	return all, func() { onClose(); calls.Close() }, nil
}

// assistant is who calls at /mcp.
func assistant(r *http.Request) mcp.Caller {
	token := api.TokenOf(r)
	return mcp.Caller{Name: token.Name, Propose: token.Scope.Includes(tokens.Propose), Mailboxes: token.Mailboxes}
}
