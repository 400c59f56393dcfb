package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
	"github.com/postroom-go/postroom/rules/backtest"
	"github.com/postroom-go/postroom/safety/limits"
)

// A backtestAPI tries rules on stored mail.
type backtestAPI struct {
	app *app.App
	of  mailboxes
}

func (a backtestAPI) routes() []webapi.Route {
	return []webapi.Route{webapi.Handle(webapi.Route{Method: http.MethodPost, Path: "/rules/backtest", Scope: webapi.See,
		Account: a.of.byBody, Summary: "Try rules on stored mail, changing nothing, and compare them with those in use"},
		a.backtest)}
}

type backtestBody struct {
	Mailbox string `json:"mailbox,omitempty" jsonschema:"address of the mailbox; may be left out where there is one"`
	Rules   string `json:"rules,omitempty"   jsonschema:"the text of a rules file; left out: the rules in use are tried"`
	Added   bool   `json:"added,omitempty"   jsonschema:"try them beside the rules in use, not in their place"`
	Window  string `json:"window,omitempty"  jsonschema:"how far back, such as 90d, which is the default"`
	Samples int    `json:"samples,omitempty" jsonschema:"messages shown of each rule and difference: 0 to 100, default 5"`
}

// SetDefaults sets what a body may omit.
func (b *backtestBody) SetDefaults(*http.Request) { b.Window, b.Samples = "90d", 5 }

// longestBacktest bounds the time of a backtest, which a client waits for.
const longestBacktest = 30 * time.Second

func (a backtestAPI) backtest(r *http.Request, in backtestBody) (*backtest.Report, error) {
	account, err := a.of.one(r, in.Mailbox)
	if err != nil {
		return nil, err
	}
	window, err := limits.ParseWindow(in.Window)
	if err != nil {
		return nil, usage.Errorf("window is %q; write a whole number and h, d or w, as 24h or 90d", in.Window)
	}
	if in.Samples < 0 || in.Samples > 100 {
		return nil, usage.Errorf("samples is %d; it must be within 0 and 100", in.Samples)
	}
	if in.Samples == 0 {
		in.Samples = -1 // none
	}
	ctx, cancel := context.WithTimeout(r.Context(), longestBacktest)
	defer cancel()
	report, err := a.app.Backtest(ctx, app.Trial{Account: account, Text: in.Rules, Added: in.Added,
		Since: time.Now().Add(-window), Samples: in.Samples})
	if errors.Is(err, context.DeadlineExceeded) {
		err = usage.Errorf("%s have more mail than can be tried while a program waits: give a shorter window, or run "+
			"'postroomd rules backtest'", in.Window)
	}
	return report, err
}
