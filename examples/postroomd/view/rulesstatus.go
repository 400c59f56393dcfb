package view

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/rules/rulestore"
)

// A RulesStatus is the state of a rules file: which of its rules are in force, and why what it holds now is not.
type RulesStatus struct {
	File      string    `json:"file"`
	Mailboxes []string  `json:"mailboxes"`         // that read it
	Version   int64     `json:"version,omitempty"` // of the newest rules that were read from it
	Rules     int       `json:"rules"`             // in force
	Since     time.Time `json:"since,omitzero"`
	Changes   string    `json:"changes,omitempty"` // of that version, if it was made within a day
	Pending   bool      `json:"pending,omitempty"` // it has changed since, and postroomd has not taken it yet
	Fault     string    `json:"fault,omitempty"`   // why it cannot be used
}

// recentChange is how old a version may be whose changes are shown.
const recentChange = 24 * time.Hour

// newRulesStatus reads the state of each configured file.
func newRulesStatus(ctx context.Context, h *app.App, accounts []mailstore.Account) (list []RulesStatus, err error) {
	for _, path := range h.Env.RulesPaths() {
		s := RulesStatus{File: path, Mailboxes: []string{}}
		if _, err := h.Env.ReadRules(path); err != nil {
			s.Fault = err.Error()
		}
		text, err := os.ReadFile(path)
		if err != nil {
			text = nil // which the fault says
		}
		for _, a := range accounts {
			if a.State != mailstore.AccountRemoving && h.Env.RulesPath(a.Email) == path {
				if err := s.add(ctx, h, a, string(text)); err != nil {
					return nil, err
				}
			}
		}
		list = append(list, s)
	}
	return list, nil
}

// add looks at a mailbox that reads the file, which has the text.
func (s *RulesStatus) add(ctx context.Context, h *app.App, a mailstore.Account, text string) error {
	s.Mailboxes = append(s.Mailboxes, a.Email)
	stored, ok, err := h.Rules.CurrentSource(ctx, a.ID)
	if err != nil {
		return err
	}
	s.Pending = s.Pending || s.Fault == "" && (!ok || stored != text)
	newest, err := h.Rules.Versions(ctx, rulestore.VersionFilter{Account: &a.ID, Limit: 2})
	if err != nil || len(newest) == 0 || newest[0].Number <= s.Version {
		return err
	}
	s.Version, s.Rules, s.Since = newest[0].Number, newest[0].Rules, newest[0].At
	s.Changes = ""
	if len(newest) < 2 || time.Since(s.Since) > recentChange {
		return nil
	}
	s.Changes, err = countChanges(ctx, h, newest[1].Number, newest[0].Number)
	return err
}

func countChanges(ctx context.Context, h *app.App, before, after int64) (string, error) {
	a, err := h.Rules.Version(ctx, before)
	if err != nil {
		return "", err
	}
	b, err := h.Rules.Version(ctx, after)
	if err != nil {
		return "", err
	}
	counts := map[string]int{}
	for _, d := range rulesfile.Differences(a.List, b.List) {
		counts[d.Kind()]++
	}
	return fmt.Sprintf("%d added, %d changed, %d removed; 'postroomd rules diff %d %d' shows them", counts["added"],
		counts["changed"], counts["removed"], before, after), nil
}

func (s *RulesStatus) print(f *printer.Fields) {
	text := s.File
	if s.Version > 0 {
		text += fmt.Sprintf(", %s since %s", printer.Count(s.Rules, "rule", "rules"), printer.Clock(s.Since))
	}
	f.Add("rules", text)
	f.Add("  changed", s.Changes)
	f.Add("  pending", printer.Unless(!s.Pending || s.Version == 0,
		"the file has changed since, and postroomd takes it as soon as it runs and reaches Gmail"))
	f.Add("  fault", printer.Unless(s.Fault == "",
		"the file cannot be used, and the rules that were read before stay in force: "+strings.TrimSpace(s.Fault)))
}
