package backtest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
)

// A verdict is the result of a set for a message: the numbers of the matching rules, and the actions.
type verdict struct {
	rules   []int
	actions []string
}

// A trial is a set that is tried.
type trial struct {
	set     *rules.Set
	rules   []rules.Rule
	actions [][]string // of each rule, in words
}

func newTrial(list []rules.Rule, cfg *Config) *trial {
	set := rules.NewSetWith(list, cfg.Kinds, cfg.Senders, cfg.History)
	t := &trial{set: set, rules: set.Rules(), actions: make([][]string, set.Len())}
	for i := range t.rules {
		for _, a := range t.rules[i].Actions() {
			t.actions[i] = append(t.actions[i], a.InWords())
		}
	}
	return t
}

func (t *trial) decide(msg *postroom.Message, now time.Time, f *rules.Facts) verdict {
	var v verdict
	for n, rule := range t.set.AllWith(msg, now, f) {
		v.rules = append(v.rules, n)
		for _, action := range t.actions[n] {
			if !slices.Contains(v.actions, action) {
				v.actions = append(v.actions, action)
			}
		}
		if !rule.Continue {
			break
		}
	}
	return v
}

// judge decides about the messages of a chunk side by side.
func (c *counter) judge(ctx context.Context, messages []*postroom.Message) (now, before []verdict, err error) {
	now, before = make([]verdict, len(messages)), make([]verdict, len(messages))
	workers := runtime.GOMAXPROCS(0)
	errs := make([]error, workers)
	var done sync.WaitGroup
	for w := range workers {
		done.Go(func() {
			for i := w; i < len(messages) && errs[w] == nil; i += workers {
				if messages[i] != nil {
					errs[w] = c.judgeOne(ctx, messages[i], &now[i], &before[i])
				}
			}
		})
	}
	done.Wait()
	return now, before, errors.Join(errs...)
}

func (c *counter) judgeOne(ctx context.Context, msg *postroom.Message, now, before *verdict) error {
	f, at := &rules.Facts{Server: c.cfg.AuthServer}, c.timeOf(msg)
	if c.tried.set.AsksSenders() || c.against != nil && c.against.set.AsksSenders() {
		var err error
		if f.SenderSeen, err = c.cfg.Senders.SenderSeen(ctx, msg); err != nil {
			return fmt.Errorf("ask whether the sender had written before: %w", err)
		}
	}
	var err error
	if f.Past, err = c.tried.set.PastOf(ctx, c.cfg.History, msg, at); err != nil {
		return err
	}
	*now = c.tried.decide(msg, at, f)
	if c.against != nil {
		if f.Past, err = c.against.set.PastOf(ctx, c.cfg.History, msg, at); err != nil {
			return err
		}
		*before = c.against.decide(msg, at, f)
	}
	return nil
}

func (c *counter) timeOf(msg *postroom.Message) time.Time {
	switch {
	case !c.cfg.Now.IsZero():
		return c.cfg.Now
	case !msg.ReceivedAt.IsZero():
		return msg.ReceivedAt
	}
	return c.began
}
