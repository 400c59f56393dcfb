package web

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/postroom-go/postroom/examples/postroomd/view/calls"
	"github.com/postroom-go/postroom/llm"
)

// modelCalls are calls of models on a page.
type modelCalls struct {
	Model        string   // the only one whose calls are listed; empty: all
	Models       []string // those that calls can be listed of
	Calls        calls.Page
	Later, Older string // the queries of the newest page and of the next; empty if there is none
}

func (h *Handler) listCalls(ctx context.Context, u *url.URL, names []string) (list modelCalls, err error) {
	query := u.Query()
	asked, err := h.app.Models.Records.Models(ctx)
	if err != nil {
		return list, err
	}
	list = modelCalls{Model: query.Get("model"), Models: listable(names, asked, query.Get("model"))}
	list.Calls, err = calls.NewPage(ctx, h.app, llm.CallFilter{Model: list.Model, Before: query.Get("before")})
	of := url.Values{}
	if list.Model != "" {
		of.Set("model", list.Model)
	}
	if query.Get("before") != "" {
		list.Later = "?" + of.Encode()
	}
	if list.Calls.Next != "" {
		of.Set("before", list.Calls.Next)
		list.Older = "?" + of.Encode()
	}
	return list, err
}

// listable are the models that are configured, those whose calls are on record, and the one that the address names.
func listable(names, asked []string, named string) []string {
	list := slices.Concat(names, asked)
	if named != "" {
		list = append(list, named)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (h *Handler) modelCall(ctx context.Context, r *http.Request) (*view, error) {
	c, err := calls.New(ctx, h.app, r.PathValue("id"))
	return &view{name: "call", title: "A call of " + c.Model, data: &c}, err
}
