package statistics

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

const scope = "github.com/postroom-go/postroom/gmail/statistics"

// maxCategories bounds how many categories have a time series of their own: those with the most mail.
const maxCategories = 50

// Observe reports what was counted of all accounts together, since their first day, to OpenTelemetry whenever that
// collects, until the registration is unregistered:
//
//	postroom.statistics.messages    {category}         messages by category, of the 50 with the most
//	postroom.statistics.received                       messages received
//	postroom.statistics.actions     {source, outcome}  actions of rules and models, by what people said
//	postroom.statistics.acts        {act}              what people did
//	postroom.statistics.action_time {source, outcome, quantile}  s, of half and of 95 % of the actions
//	postroom.statistics.answer_time {outcome, quantile}          s, of half and of 95 % of the answers
//	postroom.statistics.marked_days                    days that are to be counted anew
//
// All are gauges: what is undone, deleted or pruned counts no more. No attribute names a mailbox, a sender or a rule.
func (s *Store) Observe(meters metric.MeterProvider) (metric.Registration, error) {
	o, err := newObserved(meters.Meter(scope))
	if err != nil {
		return nil, fmt.Errorf("statistics: %w", err)
	}
	return meters.Meter(scope).RegisterCallback(func(ctx context.Context, to metric.Observer) error {
		return s.observe(ctx, o, to)
	}, slices.Collect(maps.Values(o))...)
}

// observed are the gauges by the last part of their names.
type observed map[string]metric.Observable

func newObserved(m metric.Meter) (observed, error) {
	o := observed{}
	for name, description := range map[string]string{
		"messages": "Messages by category", "received": "Messages received",
		"actions": "Actions of rules and models, by what people said", "acts": "What people did about mail",
		"marked_days": "Days that are to be counted anew"} {
		g, err := m.Int64ObservableGauge("postroom.statistics."+name, metric.WithDescription(description))
		if err != nil {
			return nil, err
		}
		o[name] = g
	}
	for name, description := range map[string]string{
		"action_time": "How long it took from the arrival of mail to the end of an action",
		"answer_time": "How long requests for approval waited for their answers"} {
		g, err := m.Float64ObservableGauge("postroom.statistics."+name, metric.WithUnit("s"),
			metric.WithDescription(description))
		if err != nil {
			return nil, err
		}
		o[name] = g
	}
	return o, nil
}

func (s *Store) observe(ctx context.Context, o observed, to metric.Observer) error {
	revs, err := s.revs(ctx)
	if err != nil {
		return err
	}
	accounts := slices.Sorted(maps.Keys(revs))
	p, err := s.Progress(ctx, accounts...)
	if err != nil {
		return err
	}
	o.count(to, "marked_days", int64(p.Days))
	for _, dimension := range Dimensions {
		f := Filter{Accounts: accounts, Dimension: dimension}
		switch dimension {
		case Sender:
			f.Limit = 1
		case Category:
			f.Limit = maxCategories
		}
		r, err := s.Read(ctx, f)
		if err != nil {
			return err
		}
		o.report(to, dimension, r)
	}
	return nil
}

func (o observed) report(to metric.Observer, dimension Dimension, r Result) {
	outcomes := map[string]int64{}
	for i := range r.Groups {
		g := &r.Groups[i]
		outcomes[g.Outcome] += g.N
		switch dimension {
		case Category:
			o.count(to, "messages", g.N, attribute.String("category", g.Name))
		case Act:
			o.count(to, "acts", g.N, attribute.String("act", g.Name))
		case ActionTime:
			o.times(to, "action_time", g, attribute.String("source", g.Name), attribute.String("outcome", g.Outcome))
		case AnswerTime:
			o.times(to, "answer_time", g, attribute.String("outcome", g.Name))
		}
	}
	switch dimension {
	case Sender:
		o.count(to, "received", r.N)
	case Rule, Model:
		for outcome, n := range outcomes {
			source := map[Dimension]string{Rule: "deterministic", Model: "llm"}[dimension]
			o.count(to, "actions", n, attribute.String("source", source), attribute.String("outcome", outcome))
		}
	}
}

func (o observed) count(to metric.Observer, name string, n int64, attrs ...attribute.KeyValue) {
	if g, ok := o[name].(metric.Int64Observable); ok {
		to.ObserveInt64(g, n, metric.WithAttributes(attrs...))
	}
}

func (o observed) times(to metric.Observer, name string, of *Group, attrs ...attribute.KeyValue) {
	g, ok := o[name].(metric.Float64Observable)
	if !ok {
		return
	}
	for _, share := range []float64{0.5, 0.95} {
		to.ObserveFloat64(g, of.Within(share).Seconds(), metric.WithAttributes(
			append(slices.Clip(attrs), attribute.Float64("quantile", share))...))
	}
}
