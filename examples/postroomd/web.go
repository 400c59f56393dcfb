package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// A web is a server on an address of its own.
type web struct {
	url    string
	server *http.Server
	ended  chan error
}

// serve serves until it is closed; onClose ends requests that go on for ever.
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

// close lets requests end that are under way.
func (w *web) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := w.server.Shutdown(ctx)
	if served := <-w.ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// byLocalName refuses requests to a name that is not this machine's own: a website whose name server answers with a loopback
// address would be of the same origin, and read everything.
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
