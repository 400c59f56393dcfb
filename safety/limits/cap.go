package limits

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// A Cap limits how many actions of an account are carried out within a period without a person. Each account is counted
// separately. A decision beyond the cap waits for a person, whatever the safe mode of its rule. Actions that people
// have approved, undos, and decisions to do nothing do not count. The limit is exact over all processes that share
// the database.
type Cap struct {
	// AccountID is the account that the cap applies to. Default empty: each account.
	AccountID string
	// Actions are the kinds that are counted together. Default empty: all except none.
	Actions []postroom.ActionType
	// Source is the source of the decisions: rules or models. Default empty: both, counted together.
	Source postroom.Source
	// Most is the limit within Window. Bounds 0 to 1,000,000; at 0 a person is always asked.
	Most int
	// Window is the period that is counted, up to now. Required; bounds 1 minute to 366 days.
	Window time.Duration
}

const (
	maxCap       = 1_000_000
	maxCapWindow = 366 * 24 * time.Hour
)

// ParseCap parses the text form of a cap: the kinds, separated by commas, or * for all; the limit, a slash and a
// period that [ParseWindow] parses; "by rules" or "by model" for the decisions of one source; "for" and the id of one
// account.
//
//	trash,archive 50/1h by rules
//	forward 20/1d
//	* 500/1d by model for 0192b6c4-…
func ParseCap(s string) (Cap, error) {
	var c Cap
	words := strings.Fields(s)
	bad := fmt.Errorf("safety: cap %q: write kinds, a number, a slash and a time, as in %q", s,
		"trash,archive 50/1h by rules")
	if len(words) < 2 || len(words)%2 != 0 {
		return c, bad
	}
	if words[0] != "*" {
		for kind := range strings.SplitSeq(words[0], ",") {
			c.Actions = append(c.Actions, postroom.ActionType(kind))
		}
	}
	most, window, ok := strings.Cut(words[1], "/")
	n, err := strconv.Atoi(most)
	if !ok || err != nil {
		return c, bad
	}
	if c.Window, err = ParseWindow(window); err != nil {
		return c, fmt.Errorf("safety: cap %q: %w", s, err)
	}
	c.Most = n
	return c, c.parseRest(words[2:], bad)
}

func (c *Cap) parseRest(words []string, bad error) error {
	for i := 0; i < len(words); i += 2 {
		switch value := words[i+1]; {
		case words[i] == "by" && value == "rules" && c.Source == "":
			c.Source = postroom.SourceDeterministic
		case words[i] == "by" && value == "model" && c.Source == "":
			c.Source = postroom.SourceModel
		case words[i] == "for" && c.AccountID == "":
			c.AccountID = value
		default:
			return bad
		}
	}
	return nil
}

func (c *Cap) validate(kinds *postroom.Kinds) error {
	switch {
	case c.Most < 0 || c.Most > maxCap:
		return fmt.Errorf(".Most is %d; it must be within 0 and %d", c.Most, maxCap)
	case c.Window < time.Minute || c.Window > maxCapWindow:
		return fmt.Errorf(".Window is %v; it must be within 1m and %v", c.Window, maxCapWindow)
	case c.Source != "" && c.Source != postroom.SourceDeterministic && c.Source != postroom.SourceModel:
		return fmt.Errorf(".Source is %q; use deterministic or llm, or leave it empty for all", string(c.Source))
	}
	for i, t := range c.Actions {
		if !kinds.Knows(t) || t == postroom.None {
			return fmt.Errorf(".Actions[%d] is %q, which is no action that does something; the actions are %v", i, string(t),
				kinds.Types())
		}
	}
	return nil
}

func (c *Cap) about(accountID string, d postroom.Decision) bool {
	return d.Action != postroom.None && (c.AccountID == "" || c.AccountID == accountID) &&
		(c.Source == "" || c.Source == d.Source) &&
		(len(c.Actions) == 0 || slices.Contains(c.Actions, d.Action))
}

// String returns the cap for people.
func (c *Cap) String() string {
	kinds := make([]string, len(c.Actions))
	for i, t := range c.Actions {
		kinds[i] = string(t)
	}
	what := "actions"
	if len(kinds) > 0 {
		what = strings.Join(kinds, ", ")
	}
	by := map[postroom.Source]string{postroom.SourceDeterministic: " by rules",
		postroom.SourceModel: " by models"}[c.Source]
	return fmt.Sprintf("%d %s within %v%s", c.Most, what, c.Window, by)
}

// Caps are the caps of a policy, with what counts against them. It is safe for concurrent use.
type Caps struct {
	Caps   []Cap
	Counts Counts
}

// Reached returns, for people, the cap that a decision about a message of the account is beyond; empty if there is
// none. Other transactions that count for the account wait until this one ends.
func (c *Caps) Reached(ctx context.Context, tx queue.Tx, accountID string,
	d postroom.Decision) (reached string, err error) {
	for i := range c.Caps {
		most := &c.Caps[i]
		if !most.about(accountID, d) {
			continue
		}
		if err := Lock(ctx, tx, accountID); err != nil {
			return "", err
		}
		sources := []postroom.Source{most.Source}
		if most.Source == "" {
			sources = []postroom.Source{postroom.SourceDeterministic, postroom.SourceModel, postroom.SourceHost}
		}
		n, err := c.Counts.Unattended(ctx, tx, Query{AccountID: accountID, Sources: sources, Actions: most.Actions,
			Since: queue.Now(tx).Add(-most.Window), Most: most.Most})
		if err != nil {
			return "", err
		}
		if n >= most.Most {
			return fmt.Sprintf("the cap is reached: %s without a person", most), nil
		}
	}
	return "", nil
}

// CheckCaps returns an error that names the cap and the field if a cap is not one.
func CheckCaps(caps []Cap, kinds *postroom.Kinds) error {
	var faults []error
	for i := range caps {
		if err := caps[i].validate(kinds); err != nil {
			faults = append(faults, fmt.Errorf("gate: Policy.Caps[%d]%w", i, err))
		}
	}
	return errors.Join(faults...)
}
