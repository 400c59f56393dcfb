package web

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/limits"
)

// A filterForm is what a list is filtered by, as it stands in its address.
type filterForm struct {
	Mailbox, Sender, Rule, Kind, Source, State, Window string
	Batch                                              string // what was done at once
	MinConfidence, MaxConfidence                       string

	Mailboxes []mailstore.Account
	Kinds     []postroom.ActionType
	States    []postroom.ActionState

	ledger safety.Filter
	query  url.Values
}

// filterNames are the parameters of a filter.
var filterNames = []string{"mailbox", "sender", "rule", "kind", "source", "state", "window", "batch", "min_confidence",
	"max_confidence"}

// filter reads the filter of an address. What is not known is a [usage.Error].
func (h *Handler) filter(ctx context.Context, query url.Values, now time.Time) (*filterForm, error) {
	f := &filterForm{Mailbox: query.Get("mailbox"), Sender: query.Get("sender"), Rule: query.Get("rule"),
		Kind: query.Get("kind"), Source: query.Get("source"), State: query.Get("state"), Window: query.Get("window"),
		Batch: query.Get("batch"), MinConfidence: query.Get("min_confidence"), MaxConfidence: query.Get("max_confidence"),
		Kinds: h.app.Ledger.Kinds().Types(), States: postroom.ActionStates(), query: url.Values{}}
	for _, name := range filterNames {
		if query.Get(name) != "" {
			f.query.Set(name, query.Get(name))
		}
	}
	var err error
	if f.Mailboxes, err = h.accounts(ctx); err != nil {
		return nil, err
	}
	f.ledger = safety.Filter{Sender: f.Sender, Rule: f.Rule, Before: query.Get("before")}
	if f.Batch != "" {
		f.ledger.KeyPrefix = rules.BatchKey(f.Batch)
	}
	return f, errors.Join(f.readMailbox(), f.readKinds(), f.readWindow(now), f.readConfidence())
}

func (f *filterForm) readMailbox() error {
	if f.Mailbox == "" {
		return nil
	}
	i := slices.IndexFunc(f.Mailboxes, func(a mailstore.Account) bool { return a.Email == f.Mailbox })
	if i < 0 {
		return usage.Errorf("There is no mailbox %s.", f.Mailbox)
	}
	f.ledger.AccountID = f.Mailboxes[i].ID
	return nil
}

func (f *filterForm) readKinds() error {
	if f.Kind != "" {
		if !slices.Contains(f.Kinds, safety.Undone(postroom.ActionType(f.Kind))) {
			return usage.Errorf("There is no action %s.", f.Kind)
		}
		f.ledger.Types = []postroom.ActionType{postroom.ActionType(f.Kind)}
	}
	if f.Source != "" {
		if !slices.Contains(sources, postroom.Source(f.Source)) {
			return usage.Errorf("There is no source %s.", f.Source)
		}
		f.ledger.Sources = []postroom.Source{postroom.Source(f.Source)}
	}
	if f.State != "" {
		if !slices.Contains(f.States, postroom.ActionState(f.State)) {
			return usage.Errorf("There is no state %s.", f.State)
		}
		f.ledger.States = []postroom.ActionState{postroom.ActionState(f.State)}
	}
	return nil
}

var sources = []postroom.Source{postroom.SourceDeterministic, postroom.SourceModel, postroom.SourceHost,
	postroom.SourceNone}

func (f *filterForm) readWindow(now time.Time) error {
	if f.Window == "" {
		return nil
	}
	window, err := limits.ParseWindow(f.Window)
	if err != nil {
		return usage.Errorf("%s is no window: write a whole number and h, d or w, as 24h or 7d.", f.Window)
	}
	f.ledger.Since = now.Add(-window)
	return nil
}

func (f *filterForm) readConfidence() (err error) {
	f.ledger.Confidence, err = app.ReadConfidence("The least confidence", f.MinConfidence, "the greatest confidence",
		f.MaxConfidence)
	return err
}

// Filtered reports whether the filter selects less than everything.
func (f *filterForm) Filtered() bool { return len(f.query) > 0 }

// Query is the filter as the query of an address; empty if there is none.
func (f *filterForm) Query() string {
	if len(f.query) == 0 {
		return ""
	}
	return "?" + f.query.Encode()
}

// Older is the query of the next page, after the thing of the id.
func (f *filterForm) Older(id string) string {
	query := url.Values{}
	maps.Copy(query, f.query)
	query.Set("before", id)
	return "?" + query.Encode()
}
