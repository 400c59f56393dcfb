package web

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/ruledraft"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	texts "github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/backtest"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// draft adds to the text of the page a rule about mail like the message that the query names. Nothing is saved.
func (h *Handler) draft(ctx context.Context, page *editorPage, account mailstore.Account, query url.Values) error {
	m, err := h.app.FindMessage(ctx, account, query.Get("like"))
	if err != nil {
		return err
	}
	before := page.Text
	file, err := h.parseRules(ctx, account.ID, before, before)
	if err != nil {
		page.Fault = err.Error() // it is to be mended first
		return nil               //nolint:nilerr // the page shows it
	}
	order := ruledraft.Order{Action: postroom.ActionType(query.Get("action")), Label: query.Get("label")}
	if order.Before, order.Decided, err = h.decidesNow(ctx, m); err != nil {
		return err
	}
	rule, err := ruledraft.Of(m, order, file.Rules)
	if err != nil {
		return err
	}
	path, err := h.app.RuleEditor.Path(ctx, account.ID)
	if err != nil {
		return err
	}
	revised, err := file.Revise(rulesfile.Revision{Rules: []rules.Rule{rule}}, h.app.RuleEditor.Options(path)...)
	if err != nil {
		return usage.Wrap(err) // such as a label that Gmail does not take, or what a sender calls itself
	}
	page.Text = revised.Source
	return h.checked(ctx, page, account, before, revised)
}

// decidesNow returns the priority of the rule in use that decides about the message, if there is one.
func (h *Handler) decidesNow(ctx context.Context, m *postroom.Message) (priority int, decided bool, err error) {
	x, err := texts.NewExplanation(ctx, h.app, m)
	if err != nil {
		return 0, false, err
	}
	for _, tried := range x.Rules { // those before the last one let others be tried as well
		if tried.Outcome == rules.Matched {
			priority, decided = tried.Priority, true
		}
	}
	return priority, decided, nil
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
