package rules

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/internal/readmail"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
)

// BacktestConfig configures a backtest.
type BacktestConfig struct {
	// Rules are tried on each message, those that are enabled. Required, but may be empty.
	Rules []Rule
	// Against are compared with, such as the rules in use. Default nil: there is no comparison.
	Against []Rule
	// Kinds are the actions that rules may have, with their danger. Default nil: those that package gmail carries out.
	Kinds *postroom.Kinds
	// Senders knows who had written before each message, as [EngineConfig].Senders does; [SendersOf] makes one from mail that is
	// in no store. It must be safe for concurrent use. Default nil: a rule with sender_seen is broken.
	Senders Senders

	// Now is the time at which messages are decided about. Zero: each at the time of its arrival, as the rules would have done; a
	// message with unknown arrival is decided as of the beginning of the backtest.
	Now time.Time
	// AuthServer is the server whose authentication results are trusted. Default: Gmail's.
	AuthServer authres.Server

	// Samples is how many messages are kept of each rule and of each difference: their sender, subject and date. Default 5; bounds
	// 1 to 100; -1 keeps none.
	Samples int
	// Progress is called with the number of messages so far, now and then, from the goroutine that calls RunBacktest. Default nil.
	Progress func(messages int)
}

const (
	defaultSamples = 5
	maxSamples     = 100
)

func (c BacktestConfig) withDefaults() (BacktestConfig, error) {
	if c.Rules == nil {
		return c, errors.New("rules: BacktestConfig.Rules is missing; give the rules to try, or an empty list")
	}
	if err := fields.Optional("rules: BacktestConfig.Senders", c.Senders); err != nil {
		return c, err
	}
	if c.Samples < -1 || c.Samples > maxSamples {
		return c, fmt.Errorf("rules: BacktestConfig.Samples is %d; it must be within 1 and %d, 0 for the default, or -1 for none", c.Samples, maxSamples)
	}
	switch c.Samples {
	case 0:
		c.Samples = defaultSamples
	case -1:
		c.Samples = 0
	}
	if c.AuthServer.ID == "" {
		c.AuthServer = GmailServer
	}
	return c, nil
}

// MessageOf returns a message that package mime has read, for mail that is in no store. Fields that only a provider knows are
// zero: ids, the account, labels, and the time of receipt.
func MessageOf(m *mime.Message) *postroom.Message { return readmail.Message(m) }

// RunBacktest tries rules on messages and counts what they would decide. It writes nothing and holds a few hundred messages at a
// time, however many there are; messages are evaluated concurrently. An error from the sequence, or of ctx, ends it. A nil
// message counts as one that could not be read.
func RunBacktest(ctx context.Context, cfg BacktestConfig, messages iter.Seq2[*postroom.Message, error]) (*Backtest, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := fields.Required("rules: RunBacktest: messages", messages, "a sequence of messages"); err != nil {
		return nil, err
	}
	began := time.Now()
	ctx, stop := context.WithCancel(ctx)
	batches := make(chan backtestBatch, 1)
	var reader sync.WaitGroup
	reader.Go(func() { readBatches(ctx, messages, batches) })
	defer func() {
		stop()
		reader.Wait()
	}()
	count := newBacktestCount(cfg, began)
	for batch := range batches {
		if err := errors.Join(batch.err, ctx.Err()); err != nil {
			return nil, fmt.Errorf("backtest: message %d: %w", count.messages+1, err)
		}
		if err := count.add(ctx, batch.messages); err != nil {
			return nil, fmt.Errorf("backtest: %w", err)
		}
		if cfg.Progress != nil {
			cfg.Progress(count.messages)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("backtest: %w", err)
	}
	return count.result(time.Since(began)), nil
}

// A backtestBatch is messages that are evaluated together, or why there are no more.
type backtestBatch struct {
	messages []*postroom.Message
	err      error
}

// The bounds of a batch, in messages and in bytes of their texts.
const (
	backtestMessages = 256
	backtestBytes    = 8 << 20
)

func readBatches(ctx context.Context, messages iter.Seq2[*postroom.Message, error], to chan<- backtestBatch) {
	defer close(to)
	var batch []*postroom.Message
	size := 0
	send := func(b backtestBatch) bool {
		batch, size = nil, 0
		select {
		case to <- b:
			return true
		case <-ctx.Done():
			return false
		}
	}
	for msg, err := range messages {
		if err != nil {
			if len(batch) == 0 || send(backtestBatch{messages: batch}) {
				send(backtestBatch{err: err})
			}
			return
		}
		batch = append(batch, msg)
		if msg != nil {
			size += len(msg.BodyPlain) + len(msg.BodyHTML)
		}
		if (len(batch) == backtestMessages || size > backtestBytes) && !send(backtestBatch{messages: batch}) {
			return
		}
	}
	if len(batch) > 0 {
		send(backtestBatch{messages: batch})
	}
}

// A verdict is the result of a set for a message: the numbers of the matching rules, and the actions.
type verdict struct {
	rules   []int
	actions []string
}

// A trial is a set that is tried.
type trial struct {
	set     *Set
	numbers map[*compiled]int
	actions [][]string // of each rule, in words
}

func newTrial(set *Set) *trial {
	t := &trial{set: set, numbers: make(map[*compiled]int, len(set.rules)), actions: make([][]string, len(set.rules))}
	for i := range set.rules {
		t.numbers[&set.rules[i]] = i
		for _, a := range set.rules[i].rule.Actions() {
			t.actions[i] = append(t.actions[i], a.InWords())
		}
	}
	return t
}

func (t *trial) decide(msg *postroom.Message, now time.Time, f *Facts) verdict {
	var v verdict
	t.set.each(msg, now, f, func(c *compiled) bool {
		n := t.numbers[c]
		v.rules = append(v.rules, n)
		for _, action := range t.actions[n] {
			if !slices.Contains(v.actions, action) {
				v.actions = append(v.actions, action)
			}
		}
		return c.rule.Continue
	})
	return v
}

// judge decides about the messages of a batch side by side.
func (c *backtestCount) judge(ctx context.Context, messages []*postroom.Message) (now, before []verdict, err error) {
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

func (c *backtestCount) judgeOne(ctx context.Context, msg *postroom.Message, now, before *verdict) error {
	f := &Facts{Server: c.cfg.AuthServer}
	if c.tried.set.asksSenders || c.against != nil && c.against.set.asksSenders {
		var err error
		if f.SenderSeen, err = c.cfg.Senders.SenderSeen(ctx, msg); err != nil {
			return fmt.Errorf("ask whether the sender had written before: %w", err)
		}
	}
	at := c.timeOf(msg)
	*now = c.tried.decide(msg, at, f)
	if c.against != nil {
		*before = c.against.decide(msg, at, f)
	}
	return nil
}

func (c *backtestCount) timeOf(msg *postroom.Message) time.Time {
	switch {
	case !c.cfg.Now.IsZero():
		return c.cfg.Now
	case !msg.ReceivedAt.IsZero():
		return msg.ReceivedAt
	}
	return c.began
}
