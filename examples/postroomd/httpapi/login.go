package httpapi

import (
	"net"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/queue/queueui"
)

// NewLogin makes the login of a server on the listener. The address that signs in is kept in the data folder for
// 'postroomd page', until ForgetLogin. changed is called with the next one each time somebody has signed in.
func NewLogin(h *app.App, listener net.Listener, changed func(address string)) *queueui.Login {
	keep := func(address string) {
		if !h.Env.Demo && !h.Env.Config.App.Dashboard {
			return // profiles alone are served
		}
		if err := h.Env.Folder.KeepPage(address); err != nil {
			h.Log.Warn("the address that signs in is not kept for 'postroomd page'", "error", err)
		}
	}
	login := queueui.NewLogin(URLOf(listener), func(address string) {
		keep(address)
		changed(address)
	})
	keep(login.Address())
	return login
}

// ForgetLogin removes the address of a server that has ended.
func ForgetLogin(h *app.App) {
	if err := h.Env.Folder.KeepPage(""); err != nil {
		h.Log.Warn("the address that signed in stays in the data folder", "error", err)
	}
}
