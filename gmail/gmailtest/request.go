package gmailtest

import (
	"bytes"
	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"io"
	"net/http"
	"net/url"
	"reflect"
)

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

// readAhead reads the body of a request at once: net/http notices that a connection was closed only after the end of the body.
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
