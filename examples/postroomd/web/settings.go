package web

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/tokens"
)

// A settingsPage lists all settings, without secrets, and the tokens of programs that are valid.
type settingsPage struct {
	Sections []section
	Tokens   []tokens.Token
}

// A section has the settings whose names begin alike.
type section struct {
	Name   string
	Values []config.Value
}

func (h *Handler) settings(ctx context.Context, _ *url.URL) (*view, error) {
	page := &settingsPage{}
	for _, v := range h.app.Env.Values {
		name, key, _ := strings.Cut(v.Key, ".")
		if n := len(page.Sections); n == 0 || page.Sections[n-1].Name != name {
			page.Sections = append(page.Sections, section{Name: name})
		}
		of := &page.Sections[len(page.Sections)-1]
		of.Values = append(of.Values, config.Value{Key: key, Value: v.Value, From: v.From})
	}
	all, err := tokens.New(h.app.DB).List(ctx)
	now := time.Now()
	page.Tokens = slices.DeleteFunc(all, func(t tokens.Token) bool { return !t.Valid(now) })
	return &view{name: "settings", title: "Settings", data: page}, err
}
