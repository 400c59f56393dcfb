package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// A web is a server on its own address.
type web struct {
	url    string
	server *http.Server
	ended  chan error
}

// serve serves until it is closed. onClose ends requests that never end by themselves.
func serve(listener net.Listener, handler http.Handler, onClose func()) *web {
	w := &web{
		url:    "http://" + listener.Addr().String() + "/",
		server: &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second},
		ended:  make(chan error, 1),
	}
	w.server.RegisterOnShutdown(onClose)
	go func() { w.ended <- w.server.Serve(listener) }()
	return w
}

// close lets active requests end.
func (w *web) close() error {
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
		if !isLoopback(host) {
			http.Error(w, "This page is reached as localhost or 127.0.0.1 only.", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLoopback accepts names and addresses that lead to this machine regardless of name servers.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}
