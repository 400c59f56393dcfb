package app

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/limits"
)

// An ActionQuery selects actions as a person names them. Empty fields select everything.
type ActionQuery struct {
	Mailbox string // its address
	Sender  string // an address or a domain
	Rule    string // by its name or id
	Kind    string
	Source  string
	State   string
	Window  string // how far back, such as 24h or 7d
	Batch   string // what one application of rules or one bulk action did, by the name that it has returned

	// MinConfidence and MaxConfidence are numbers within 0 and 1: the decision was at least, or at most, that sure.
	MinConfidence, MaxConfidence string
}

// ActionFilter returns the filter of the ledger; what is not known is a [usage.Error].
func (h *App) ActionFilter(ctx context.Context, q ActionQuery, now time.Time) (safety.Filter, error) {
	f := safety.Filter{Sender: q.Sender, Rule: q.Rule}
	if q.Batch != "" {
		f.KeyPrefix = rules.BatchKey(q.Batch)
	}
	if q.Mailbox != "" {
		account, err := h.Mail.AccountByEmail(ctx, q.Mailbox)
		if errors.Is(err, postroom.ErrNotFound) {
			return f, usage.Errorf("there is no mailbox %s", q.Mailbox)
		}
		if err != nil {
			return f, err
		}
		f.AccountID = account.ID
	}
	if q.Window != "" {
		window, err := limits.ParseWindow(q.Window)
		if err != nil {
			return f, usage.Errorf("window is %q; write a whole number and h, d or w, as 24h or 7d", q.Window)
		}
		f.Since = now.Add(-window)
	}
	var err error
	f.Confidence, err = ReadConfidence("min_confidence", q.MinConfidence, "max_confidence", q.MaxConfidence)
	if err != nil {
		return f, err
	}
	return f, h.addKinds(&f, q)
}

// ReadConfidence returns the range from least to most, whose texts may be empty; nil if both are. What is none is a
// [usage.Error] that names it as the caller does.
func ReadConfidence(leastName, least, mostName, most string) (*safety.Range, error) {
	if least == "" && most == "" {
		return nil, nil //nolint:nilnil // none is no error, and restricts nothing
	}
	r := &safety.Range{Min: 0, Max: 1}
	for _, of := range []struct {
		name, text string
		to         *float64
	}{{leastName, least, &r.Min}, {mostName, most, &r.Max}} {
		if of.text == "" {
			continue
		}
		v, err := strconv.ParseFloat(of.text, 64)
		if err != nil || !(v >= 0 && v <= 1) {
			return nil, usage.Errorf("%s is %q; it must be a number within 0 and 1, as 0.8", of.name, of.text)
		}
		*of.to = v
	}
	if r.Min > r.Max {
		return nil, usage.Errorf("%s is %s, which is more than %s, %s", leastName, least, mostName, most)
	}
	return r, nil
}

func (h *App) addKinds(f *safety.Filter, q ActionQuery) error {
	if kind := postroom.ActionType(q.Kind); kind != "" {
		if !h.Ledger.Kinds().Knows(safety.Undone(kind)) {
			return usage.Errorf("kind is %q; it must be one of %q", q.Kind, h.Ledger.Kinds().Types())
		}
		f.Types = []postroom.ActionType{kind}
	}
	sources := []postroom.Source{postroom.SourceDeterministic, postroom.SourceModel, postroom.SourceHost,
		postroom.SourceNone}
	if source := postroom.Source(q.Source); source != "" {
		if !slices.Contains(sources, source) {
			return usage.Errorf("source is %q; it must be one of %q", q.Source, sources)
		}
		f.Sources = []postroom.Source{source}
	}
	if state := postroom.ActionState(q.State); state != "" {
		if !slices.Contains(postroom.ActionStates(), state) {
			return usage.Errorf("state is %q; it must be one of %q", q.State, postroom.ActionStates())
		}
		f.States = []postroom.ActionState{state}
	}
	return nil
}
