package gmailtest

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
)

// usersPath is the path of all methods.
const usersPath = "/gmail/v1/users/"

// A match is the route of a request with the parameters of its path.
type match struct {
	*route
	params   map[string]string // by their names in the path; the user is userId
	isUpload bool
	session  *uploadSession // of a resumable upload that continues
}

// uploadPaths precede the path of a method whose body is a raw message.
var uploadPaths = []string{"/upload", "/resumable/upload"}

// route returns the route of the request.
func (s *Server) route(r *http.Request) (match, bool) {
	path := r.URL.EscapedPath()
	for _, prefix := range uploadPaths {
		rest, isUpload := strings.CutPrefix(path, prefix+"/")
		if !isUpload {
			continue
		}
		if id := r.URL.Query().Get("upload_id"); id != "" {
			session := s.uploads.find(id)
			if session == nil {
				return match{}, false
			}
			found := session.match
			found.session = session
			return found, true
		}
		found, ok := findRoute(r.Method, "/"+rest)
		found.isUpload = true
		return found, ok && found.upload > 0
	}
	return findRoute(r.Method, path)
}

// findRoute returns the route of a verb and an escaped path. Like Google, it matches both at once: a method with the
// wrong verb is not found either.
func findRoute(verb, escapedPath string) (match, bool) {
	rest, found := strings.CutPrefix(escapedPath, usersPath)
	if !found {
		return match{}, false
	}
	segments := strings.Split(rest, "/")
	for i, segment := range segments {
		plain, err := url.PathUnescape(segment)
		if err != nil {
			return match{}, false
		}
		segments[i] = plain
	}
	var best match
	for i := range routes {
		if routes[i].verb != verb {
			continue
		}
		params, ok := routes[i].match(segments[1:])
		// messages/send is a separate method, not the message "send".
		if ok && (best.route == nil || len(params) < len(best.params)) {
			best = match{route: &routes[i], params: params}
		}
	}
	if best.route == nil || segments[0] == "" {
		return match{}, false
	}
	best.params["userId"] = segments[0]
	return best, true
}

// match compares the path with the segments after the user.
func (r *route) match(segments []string) (params map[string]string, ok bool) {
	pattern := strings.Split(strings.TrimPrefix(r.path, "/"), "/")
	if len(pattern) != len(segments) {
		return nil, false
	}
	params = map[string]string{}
	for i, part := range pattern {
		name, isParam := strings.CutPrefix(part, "{")
		name, suffix, _ := strings.Cut(name, "}") // such as ":disable"
		value, hasSuffix := strings.CutSuffix(segments[i], suffix)
		switch {
		case !isParam && part != segments[i], isParam && (!hasSuffix || value == ""):
			return nil, false
		case isParam:
			params[name] = value
		}
	}
	return params, true
}

// standardQuery are the parameters that every method has.
var standardQuery = []string{
	"$.xgafv", "access_token", "alt", "callback", "fields", "key", "oauth_token", "prettyPrint", "quotaUser",
	"uploadType", "upload_protocol",
	// also sent by client libraries
	"$alt", "$fields", "$key", "$prettyPrint", "$quotaUser", "$userProject", "userIp", "upload_id",
}

// parseQuery parses the parameters of a request. As at Google, max_results is another spelling of maxResults, and an
// unknown name is refused.
func (r *route) parseQuery(raw string) (url.Values, error) {
	sent, err := url.ParseQuery(raw)
	if err != nil {
		return nil, wire.InvalidArgument("Invalid query: %v", err)
	}
	query := url.Values{}
	for name, values := range sent {
		known := wire.CamelCase(name)
		switch {
		case slices.Contains(standardQuery, name):
			known = strings.TrimPrefix(name, "$")
		case !slices.Contains(r.query, known):
			return nil, wire.InvalidArgument("Invalid JSON payload received. Unknown name %q: Cannot bind query parameter. "+
				"Field '%s' could not be found in request message.", name, name)
		}
		query[known] = append(query[known], values...)
	}
	return query, nil
}

// noRoute answers a request that is not a method of the API with a page instead of JSON, so that no client mistakes
// it for a missing message.
func noRoute(r *http.Request) wire.Reply {
	page := fmt.Sprintf("<!DOCTYPE html>\n<html lang=en>\n<title>Error 404 (Not Found)!!1</title>\n"+
		"<p><b>404.</b> That\u2019s an error.\n<p>The requested URL <code>%s</code> was not found on this server: "+
		"the Gmail API has no %s of this path.\n", html.EscapeString(r.URL.Path), html.EscapeString(r.Method))
	return wire.NewReply(http.StatusNotFound, "text/html; charset=UTF-8", []byte(page))
}

// notImplemented names the method, so that nobody mistakes the response for that of a missing message.
func notImplemented(method Method) error {
	message := fmt.Sprintf("gmailtest does not implement gmail.users.%s.", method)
	return &wire.Error{Status: http.StatusNotImplemented, Reason: "notImplemented", Message: message}
}

// A request is one call of a method.
type request struct {
	*http.Request
	match

	account *Account   // of the token's owner
	query   url.Values // checked against the parameters of the method
	mask    wire.Mask  // the requested fields of the response
	media   []byte     // the message of an upload; nil if there is none
}

// param returns a parameter of the path.
func (r *request) param(name string) string { return r.params[name] }

// readQuery parses and checks the parameters. A continued upload has those of its first request.
func (r *request) readQuery() (err error) {
	raw := r.URL.RawQuery
	if r.session != nil {
		raw = r.session.query
	}
	if r.query, err = r.parseQuery(raw); err != nil {
		return err
	}
	if alt := r.query.Get("alt"); alt != "" && alt != "json" {
		return wire.InvalidArgument("Invalid value at 'alt': %q: only JSON is answered here", alt)
	}
	fields := r.query.Get("fields")
	if fields == "" {
		fields = r.Header.Get("X-Goog-Fieldmask")
	}
	r.mask, err = wire.ParseMask(fields, r.answer)
	return err
}

// readAhead reads the body of a request at once: net/http notices that a connection was closed only after the end of
// the body.
func readAhead(r *http.Request) {
	ahead, _ := io.ReadAll(io.LimitReader(r.Body, maxRequest+1)) // the next reader gets the error again
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(ahead), r.Body), r.Body}
}

// maxRequest bounds a request's body: the largest message, in base64, and the JSON around it.
const maxRequest = storedSize*4/3 + 64<<10

// readJSON reads a request's body. An empty body is an object without fields.
func (r *request) readJSON(into any) error {
	return r.readJSONAs(reflect.TypeOf(into), into)
}

// readJSONAs is readJSON for a value whose type does not list its fields.
func (r *request) readJSONAs(shape reflect.Type, into any) error {
	body, err := r.readAll(r.Body, maxRequest)
	if err != nil || len(body) == 0 {
		return err
	}
	return wire.DecodeJSON(body, shape, into)
}
