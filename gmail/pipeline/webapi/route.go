package webapi

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"time"
)

// A Scope is what a call needs its caller to be permitted.
type Scope string

// The scopes. Each includes those before it.
const (
	See     Scope = "see"     // read
	Approve Scope = "approve" // answer requests, undo, stop and resume
	Own     Scope = "own"     // change what decides, and start work
)

// Scopes returns the scopes, the least first.
func Scopes() []Scope { return []Scope{See, Approve, Own} }

// A Route is a call with its description. [Handle] makes one. The handler of [New] and the document of [OpenAPI] come
// from the same routes, so that neither has a path or a field that the other does not have.
type Route struct {
	Method  string // empty: all
	Path    string // below [Config.Prefix], as in a pattern of [http.ServeMux]
	Summary string // empty: the route is not described
	Scope   Scope  // for [Config.Authorize], by [RouteOf]

	// Account returns the id of the account that a request concerns; empty if it names none, and [AllAccounts]
	// for what is of all. Nil: requests concern all accounts.
	Account func(r *http.Request) (accountID string, err error)
	// NoBody permits a request to have no body; all fields are then zero.
	NoBody bool
	// Takes is the time that the call may take beyond the write timeout of the server, as one of a model. Default 0: the
	// server's own limits hold.
	Takes time.Duration
	// Needs says to a caller whose body cannot be read what it needs, such as "it needs a name". Default empty.
	Needs string

	in, out reflect.Type // out is nil for a stream of events
	call    Call
}

// None stands for a request without parameters or a body.
type None struct{}

// Handle returns the route with its function. In is a struct: the parameters of a GET, named by the tag query, or
// otherwise the JSON object of the body. If *In has a method SetDefaults, it is called before the body is read.
func Handle[In, Out any](route Route, call func(r *http.Request, in In) (Out, error)) Route {
	route.in, route.out = reflect.TypeFor[In](), reflect.TypeFor[Out]()
	route.call = func(r *http.Request) (any, error) {
		var in In
		if err := route.read(r, &in); err != nil {
			return nil, err
		}
		return call(r, in)
	}
	return route
}

// Stream returns the route of a GET whose answer is a stream of server-sent events. In is as for [Handle].
func Stream[In any](route Route, serve func(w http.ResponseWriter, r *http.Request, in In) error) Route {
	route.Method, route.in = http.MethodGet, reflect.TypeFor[In]()
	route.call = func(r *http.Request) (any, error) {
		var in In
		if err := route.read(r, &in); err != nil {
			return nil, err
		}
		return streamer(func(w http.ResponseWriter) error { return serve(w, r, in) }), nil
	}
	return route
}

// A streamer writes an answer by itself. It returns an error only if it has written nothing.
type streamer func(w http.ResponseWriter) error

// read reads the parameters or the body of a request.
func (route *Route) read(r *http.Request, into any) error {
	if d, ok := into.(interface{ SetDefaults(r *http.Request) }); ok {
		d.SetDefaults(r)
	}
	switch {
	case route.Method == http.MethodGet:
		return readQuery(r, into)
	case route.in == reflect.TypeFor[None](), route.NoBody && r.ContentLength == 0:
		return nil
	}
	err := ReadBody(r, into)
	if err != nil && route.Needs != "" {
		err = WithStatus(http.StatusBadRequest, fmt.Errorf("%w; %s", err, route.Needs))
	}
	return err
}

type routeKey struct{}

// RouteOf returns the route of a request, in [Config.Authorize] and in a [Call]. It is the zero Route for a request
// that no route takes.
func RouteOf(r *http.Request) Route {
	route, _ := r.Context().Value(routeKey{}).(Route)
	return route
}

func withRoute(r *http.Request, route Route) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), routeKey{}, route))
}
