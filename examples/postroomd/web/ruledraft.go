package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/fixing"
	"github.com/postroom-go/postroom/examples/postroomd/ruledraft"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/rules/backtest"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// draft changes the text of the page by a fix of the rules about the message that the query names. Nothing is saved.
func (h *Handler) draft(ctx context.Context, page *editorPage, account mailstore.Account, query url.Values) error {
	m, err := h.app.FindMessage(ctx, account, query.Get("like"))
	if err != nil {
		return err
	}
	before := page.Text
	open, err := fixing.Open(ctx, h.app, account, m)
	if _, wrong := errors.AsType[usage.Error](err); wrong {
		page.Fault = err.Error() // it is to be mended first
		return nil
	}
	if err != nil {
		return err
	}
	p, err := open.Propose(ctx, fixOf(query))
	if err != nil {
		return err
	}
	page.Text = p.File.Source
	return h.checked(ctx, page, account, before, p.File)
}

// fixOf is the fix that the fields of a form ask for.
func fixOf(form url.Values) fixing.Order {
	return fixing.Order{Way: fixing.Way(form.Get("way")), Rule: form.Get("rule"),
		About: ruledraft.About(form.Get("about")), Action: postroom.ActionType(form.Get("action")),
		Label: form.Get("label"), Test: form.Get("test") != ""}
}

// A fixPage offers the ways to have the rules do what a person wants with a message, and shows one.
type fixPage struct {
	*fixing.Case
	*fixing.Proposal

	Message   *postroom.Message
	Mailbox   string
	Order     fixing.Order
	Ways      []fixWay
	Fault     string // why there is no proposal
	Actions   []postroom.ActionType
	OwnLabels []postroom.Label
	Lines     []differenceLine
	Tried     *backtest.Report // nil if no rule changes, or it took too long
	Risks     []string         // what of that is dangerous
}

// A fixWay is a link to one of the ways.
type fixWay struct {
	Text, Query string
	Shown       bool
}

// fix shows one of the ways to fix the rules about a message. It changes nothing.
func (h *Handler) fix(ctx context.Context, r *http.Request) (*view, error) {
	account, m, err := h.storedMessage(ctx, r)
	if err != nil {
		return nil, err
	}
	page := &fixPage{Message: m, Mailbox: account.Email, Order: fixOf(r.URL.Query()), Actions: ruledraft.Actions}
	if page.Order.Way == "" {
		page.Order.Way = fixing.Rule
	}
	if page.Order.Action == "" && page.Order.Way != fixing.Except {
		page.Order.Action = ruledraft.Actions[0]
	}
	if page.OwnLabels, err = h.ownLabels(ctx, account.Email); err != nil {
		return nil, err
	}
	if page.Case, err = fixing.Open(ctx, h.app, account, m); err != nil {
		return nil, err
	}
	page.Ways = page.ways()
	v := &view{name: "fix", title: "Fix", data: page}
	page.Proposal, err = page.Propose(ctx, page.Order)
	if _, wrong := errors.AsType[usage.Error](err); wrong {
		page.Fault = err.Error()
		return v, nil
	}
	if err != nil {
		return nil, err
	}
	if page.Lines = linesOf(page.Changes); !page.Decides {
		return v, nil
	}
	page.Tried, err = h.tryNewest(ctx, account.ID, func(ctx context.Context, since time.Time) (*backtest.Report, error) {
		return h.app.Backtest(ctx, page.Trial(since))
	})
	if page.Tried != nil {
		page.Risks = page.Dangerous(page.Tried)
	}
	return v, err
}

// ways are links to the ways that there are for the message.
func (p *fixPage) ways() (list []fixWay) {
	add := func(text string, way fixing.Way, rule string) {
		o := p.Order
		shown := o.Way == way && (o.Rule == rule || o.Rule == "" && len(p.Deciders) > 0 && p.Deciders[0].Rule == rule)
		o.Way, o.Rule = way, rule
		list = append(list, fixWay{text, "?" + p.query(o).Encode(), shown || rule == "" && p.Order.Way == way})
	}
	add("A new rule", fixing.Rule, "")
	for _, d := range p.Deciders {
		add(fmt.Sprintf("Change “%s”", d.Rule), fixing.Change, d.Rule)
		add(fmt.Sprintf("An exception in “%s”", d.Rule), fixing.Except, d.Rule)
	}
	add("Only a test", fixing.Test, "")
	return list
}

// query is the query of an order.
func (p *fixPage) query(o fixing.Order) url.Values {
	query := url.Values{}
	test := map[bool]string{true: "1"}[o.Test]
	for name, value := range map[string]string{"way": string(o.Way), "rule": o.Rule, "about": string(o.About),
		"action": string(o.Action), "label": o.Label, "test": test} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return query
}

// Editor is the query of the editor with the change in it.
func (p *fixPage) Editor() string {
	query := p.query(p.Order)
	query.Set("mailbox", p.Mailbox)
	query.Set("like", p.Message.ID)
	return "?" + query.Encode()
}

// saveFix saves what was shown, if it is still that.
func (h *Handler) saveFix(w http.ResponseWriter, r *http.Request) {
	account, m, err := h.storedMessage(r.Context(), r)
	if err == nil {
		_, err = fixing.Save(r.Context(), h.app, account, m, fixOf(r.PostForm), r.PostForm.Get("digest"), by(r))
	}
	if errors.Is(err, fixing.ErrChanged) {
		err = usage.Wrap(err)
	}
	h.done(w, r, "fix", err)
}

// checked shows what a text without a fault changes, and what it would have done with the newest mail.
func (h *Handler) checked(
	ctx context.Context, page *editorPage, account mailstore.Account, before string, file *rulesfile.File,
) error {
	page.Checked, page.Rules, page.Tests = true, len(file.Rules), len(file.Tests)
	for _, result := range file.Test(file.Tests, h.app.Env.ActionKinds()) {
		if !result.Passed() {
			page.Failed = append(page.Failed, result.String())
		}
	}
	for _, w := range file.Warnings {
		page.Notes = append(page.Notes, w.String())
	}
	old, err := h.parseRules(ctx, account.ID, before, before)
	if err != nil {
		old = &rulesfile.File{} // a text that has a fault decides nothing
	}
	page.Lines = linesOf(rulesfile.Differences(old.Rules, file.Rules))
	if len(page.Lines) == 0 {
		return nil
	}
	path, err := h.app.RuleEditor.Path(ctx, account.ID)
	if err != nil {
		return err
	}
	trial := app.Trial{Account: account, Text: page.Text, Path: path, Samples: 3}
	page.Tried, err = h.tryNewest(ctx, account.ID, func(ctx context.Context, since time.Time) (*backtest.Report, error) {
		trial.Since = since
		return h.app.Backtest(ctx, trial)
	})
	return err
}

// tryNewest tries rules on the newest mail of a mailbox. The report is nil if that takes too long for a page.
func (h *Handler) tryNewest(
	ctx context.Context, accountID string, try func(ctx context.Context, since time.Time) (*backtest.Report, error),
) (*backtest.Report, error) {
	newest, err := h.app.Mail.NewestReceived(ctx, accountID)
	if err != nil {
		return nil, err
	}
	trying, cancel := context.WithTimeout(ctx, maxTry)
	defer cancel()
	report, err := try(trying, newest.Add(-triedSince))
	if trying.Err() != nil && ctx.Err() == nil {
		return nil, nil //nolint:nilnil // documented
	}
	return report, err
}

// linesOf are the lines of differences, below the names of their rules.
func linesOf(differences []rulesfile.Difference) (lines []differenceLine) {
	for _, d := range differences {
		lines = append(lines, differenceLine{Text: d.Name})
		for line := range strings.Lines(d.String()) {
			line = strings.TrimRight(line, "\n")
			lines = append(lines, differenceLine{signs[line[:min(1, len(line))]], line})
		}
	}
	return lines
}
