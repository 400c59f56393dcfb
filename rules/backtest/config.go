package backtest

import (
	"errors"
	"fmt"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/postroom-go/postroom/rules"
)

// Config configures a backtest.
type Config struct {
	// Rules are tried on each message, those that are enabled. Required, but may be empty.
	Rules []rules.Rule
	// Against are compared with, such as the rules in use. Default nil: there is no comparison.
	Against []rules.Rule
	// Kinds are the actions that rules may have, with their danger. Default nil: those that package gmail carries out.
	Kinds *postroom.Kinds
	// Senders knows who had written before each message, as [rules.EngineConfig].Senders does; [SendersOf] makes one
	// from mail that is in no store. It must be safe for concurrent use. Default nil: a rule with sender_seen is broken.
	Senders rules.Senders
	// History is that of [rules.EngineConfig]. It must be safe for concurrent use. Default nil: rules that ask for it are
	// broken.
	History rules.History

	// Now is the time at which messages are decided about. Zero: each at the time of its arrival, as the rules would
	// have done; a message with unknown arrival is decided as of the beginning of the backtest.
	Now time.Time
	// AuthServer is the server whose authentication results are trusted. Default: Gmail's.
	AuthServer authres.Server

	// Samples is how many messages are kept of each rule and of each difference: their sender, subject and date. Default
	// 5; bounds 1 to 100; -1 keeps none.
	Samples int
	// Progress is called with the number of messages so far, now and then, from the goroutine that calls Run. Default nil.
	Progress func(messages int)
}

const (
	defaultSamples = 5
	maxSamples     = 100
)

func (c Config) withDefaults() (Config, error) {
	if c.Rules == nil {
		return c, errors.New("backtest: Config.Rules is missing; give the rules to try, or an empty list")
	}
	if err := errors.Join(fields.Optional("backtest: Config.Senders", c.Senders),
		fields.Optional("backtest: Config.History", c.History)); err != nil {
		return c, err
	}
	if c.Samples < -1 || c.Samples > maxSamples {
		return c,
			fmt.Errorf("backtest: Config.Samples is %d; it must be within 1 and %d, 0 for the default, or -1 for none",
				c.Samples, maxSamples)
	}
	switch c.Samples {
	case 0:
		c.Samples = defaultSamples
	case -1:
		c.Samples = 0
	}
	if c.AuthServer.ID == "" {
		c.AuthServer = rules.GmailServer
	}
	return c, nil
}
