package gmailtest

import (
	"reflect"
	"slices"

	"github.com/postroom-go/postroom/gmail/gmailtest/oauth"
)

// A Route is what the tests of the table of methods look at.
type Route struct {
	ID          Method
	Verb, Path  string
	Query       []string
	Upload      int64  // in bytes
	Answer      string // its type; empty: none
	Implemented bool
}

// Routes returns the table of methods.
func Routes() []Route {
	all := make([]Route, len(routes))
	for i, r := range routes {
		all[i] = Route{ID: r.id, Verb: r.verb, Path: r.path, Query: r.query, Upload: r.upload, Implemented: r.handle != nil}
		if r.answer != nil {
			all[i].Answer = reflect.TypeOf(r.answer).Elem().Name()
		}
	}
	return all
}

// ScopesOf returns the scopes of a method.
func ScopesOf(id Method) []string { return oauth.ScopesOf(string(id)) }

// Palette returns the colours that labels may have.
func Palette() []string { return slices.Clone(palette) }

// Meaning returns what a scope allows, in words.
func Meaning(scope string) string { return oauth.Meaning(scope) }
