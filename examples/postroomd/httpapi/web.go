package httpapi

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// A Server is a server on its own address.
type Server struct {
	URL    string
	server *http.Server
	ended  chan error
}

// Serve serves until it is closed. onClose ends requests that never end by themselves.
func Serve(listener net.Listener, handler http.Handler, onClose func()) *Server {
	w := &Server{
		URL:    "http://" + listener.Addr().String() + "/",
		server: &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second},
		ended:  make(chan error, 1),
	}
	w.server.RegisterOnShutdown(onClose)
	go func() { w.ended <- w.server.Serve(listener) }()
	return w
}

// Close lets active requests end.
func (w *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := w.server.Shutdown(ctx)
	if served := <-w.ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// byLocalName refuses requests with a host name other than this machine's: a website whose name server returns a loopback address
// would have the same origin, and could read everything.
func byLocalName(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if !IsLoopback(host) {
			http.Error(w, "This page is reached as localhost or 127.0.0.1 only.", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// IsLoopback accepts names and addresses that lead to this machine regardless of name servers.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}
