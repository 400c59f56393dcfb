package httpapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/queue/queueui"
)

// A Server is a server on its own address.
type Server struct {
	URL    string
	login  *queueui.Login // nil: nobody signs in
	forget func()         // nil: no address is kept
	server *http.Server
	ended  chan error
}

// URLOf returns the address of a server on the listener, as browsers on this machine reach it.
func URLOf(listener net.Listener) string {
	address := listener.Addr().String()
	if at, err := netip.ParseAddrPort(address); err == nil && at.Addr().IsUnspecified() {
		address = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String()
	}
	return "http://" + address + "/"
}

// Bodies are small, and so are answers: the streams of the dashboard set deadlines of their own. A profile of 30
// seconds, the default, is still written.
const (
	readTimeout  = 30 * time.Second
	writeTimeout = time.Minute
)

// Serve serves until it is closed. onClose ends requests that never end by themselves.
func Serve(listener net.Listener, handler http.Handler, onClose func()) *Server {
	w := &Server{
		URL: URLOf(listener),
		server: &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: readTimeout,
			WriteTimeout: writeTimeout, IdleTimeout: 2 * time.Minute},
		ended: make(chan error, 1),
	}
	w.server.RegisterOnShutdown(onClose)
	go func() { w.ended <- w.server.Serve(listener) }()
	return w
}

// Address returns the address for a person: that which signs in, if there is a login.
func (w *Server) Address() string {
	if w.login == nil {
		return w.URL
	}
	return w.login.Address()
}

// Close lets active requests end.
func (w *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if w.forget != nil {
		w.forget()
	}
	err := w.server.Shutdown(ctx)
	if served := <-w.ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// byName serves this machine's own names by local, and that of the page by elsewhere. Requests with other host names
// are refused: a website whose name server returns an address of this machine would have the same origin, and could
// read everything. The own names count from this machine only, and not where a proxy here passes on what comes from
// elsewhere.
func byName(local http.Handler, page *access.Guard, elsewhere http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case access.IsLoopback(hostOf(r.Host)) && access.IsLoopback(hostOf(r.RemoteAddr)) && !page.Passed(r):
			local.ServeHTTP(w, r)
		case page.Knows(r.Host):
			elsewhere.ServeHTTP(w, r)
		default:
			http.Error(w, "This page is reached as localhost or 127.0.0.1 only, or as web.url says.",
				http.StatusMisdirectedRequest)
		}
	})
}

// hostOf is a host without its port.
func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}
