package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// A summary is the output of the demo and of run --once. Scripts rely on its JSON.
type summary struct {
	Messages  int                         `json:"messages"` // taken in, broken ones too
	New       int                         `json:"new"`      // of these, by this run
	Actions   map[postroom.ActionType]int `json:"actions"`
	Rules     map[string]int              `json:"rules"`
	Models    map[string]int              `json:"models,omitempty"`
	Failed    int                         `json:"failed"`    // of the actions
	Approvals int                         `json:"approvals"` // waiting
	Unmatched int                         `json:"unmatched"`
	Undecided int                         `json:"undecided,omitempty"` // about which a model is to decide later
	Outages   []outageView                `json:"outages,omitempty"`   // why
	Wanted    []string                    `json:"labels_to_make,omitempty"`
	Broken    []brokenMessage             `json:"broken"`
	Jobs      map[queue.State]int         `json:"jobs"`
	Seconds   float64                     `json:"seconds"`
}

type brokenMessage struct {
	Index   int    `json:"index"` // in the mailbox of a demo, counted from 1; else 0
	GmailID string `json:"gmail_id,omitempty"`
	Subject string `json:"subject"`
	Reason  string `json:"reason"`
	JobID   string `json:"job_id,omitempty"` // the job that can be retried; none for what Gmail itself refuses
}

// summarize counts the results. cutShort is the reason why the mailbox could not be read to its end, if so.
func (p *pipeline) summarize(ctx context.Context, before int, cutShort error) (*summary, error) {
	counts, err := p.ledger.Summary(ctx, p.accountID)
	if err != nil {
		return nil, err
	}
	jobs, err := p.queue.Counts(ctx, queue.Filter{})
	if err != nil {
		return nil, err
	}
	now, err := p.known(ctx)
	if err != nil {
		return nil, err
	}
	broken, refused, err := p.broken(ctx)
	if err != nil {
		return nil, err
	}
	if cutShort != nil {
		total, err := p.server.Count(ctx)
		if err != nil {
			return nil, err
		}
		refused++
		broken = append(broken, brokenMessage{Index: total + 1, Reason: cutShort.Error()})
	}
	s := &summary{
		Messages: now + refused, New: now - before, Actions: counts.Actions, Rules: counts.Rules, Models: counts.Models, Approvals: counts.Approvals,
		Failed:    counts.States[postroom.ActionFailed],
		Unmatched: counts.Unmatched, Broken: broken, Jobs: jobs,
	}
	if s.Wanted, err = p.mail.WantedLabels(ctx, p.accountID); err != nil {
		return nil, err
	}
	if s.Undecided, err = p.countUndecided(ctx); err != nil || s.Undecided == 0 {
		return s, err
	}
	s.Outages, err = p.outages(ctx)
	return s, err
}

// broken lists the messages that could not be read, and counts those that the demo's Gmail has refused.
func (p *pipeline) broken(ctx context.Context) (list []brokenMessage, refused int, err error) {
	list = []brokenMessage{}
	kept, err := p.mail.Broken(ctx, p.accountID)
	if err != nil {
		return nil, 0, err
	}
	for _, b := range kept {
		list = append(list, brokenMessage{GmailID: b.ProviderID, Subject: b.Subject, Reason: b.Reason, JobID: b.JobID})
	}
	if p.server != nil {
		refused, err = p.number(ctx, &list)
	}
	slices.SortStableFunc(list, func(a, b brokenMessage) int { return cmp.Compare(a.Index, b.Index) })
	return list, refused, err
}

// number gets from the demo's Gmail the positions of messages in the mailbox, and the refused ones.
func (p *pipeline) number(ctx context.Context, list *[]brokenMessage) (refused int, err error) {
	for i := range *list {
		b := &(*list)[i]
		if b.Index, err = p.server.Position(ctx, b.GmailID); err != nil {
			return 0, err
		}
	}
	problems, err := p.server.Refused(ctx)
	for _, r := range problems {
		*list = append(*list, brokenMessage{Index: r.Position, Subject: r.Subject, Reason: r.Problem})
	}
	return len(problems), err
}

// print writes the summary for a person. program is the command that runs this program, and flags select the data.
func (s *summary) print(w io.Writer, program, flags string) error {
	t := &tally{w: w}
	t.linef("Sorted %d messages, %d of them new, in %.1f s.", s.Messages, s.New, s.Seconds)
	counted(t, "Actions", s.Actions)
	counted(t, "Rules", s.Rules)
	counted(t, "Models", s.Models)
	t.linef("")
	t.linef("%d messages matched no rule; %d actions wait for approval.", s.Unmatched, s.Approvals)
	if s.Undecided > 0 {
		t.linef("%d messages wait for a model to decide about them; they stay in the queue.", s.Undecided)
		for _, o := range s.Outages {
			t.linef("  %s", printable(o.String()))
		}
	}
	if len(s.Wanted) > 0 {
		t.linef("%d labels that the rules name are missing, and not made now: %s.", len(s.Wanted), printable(strings.Join(s.Wanted, ", ")))
	}
	if left := s.leftAlone(); left > 0 {
		t.linef("%d messages are sent mail, drafts, spam or trash, about which nothing is decided.", left)
	}
	if s.Failed > 0 {
		t.linef("%d actions failed; to see why: %s actions --state failed --json %s", s.Failed, program, flags)
	}
	if len(s.Broken) > 0 {
		t.linef("")
		t.linef("%d messages could not be read. What arrived is kept as it came; what Gmail itself refuses stays in your file:", len(s.Broken))
		for _, b := range s.Broken {
			t.linef("  message %s%s: %s", cmp.Or(number(b.Index), b.GmailID), quoted(b.Subject), printable(b.Reason))
			if b.JobID != "" {
				t.linef("    to try again: %s jobs retry %s %s", program, b.JobID, flags)
			}
		}
	}
	t.linef("")
	t.linef("What was done:         %s actions %s", program, flags)
	t.linef("What waits for you:    %s approvals list %s", program, flags)
	t.linef("To take one back:      %s undo ACTION_ID %s", program, flags)
	return t.err
}

// leftAlone counts the messages with a label that excludes them from decisions.
func (s *summary) leftAlone() int {
	decided := s.Unmatched + s.Undecided
	for _, n := range s.Rules {
		decided += n
	}
	for _, n := range s.Models {
		decided += n
	}
	return s.Messages - len(s.Broken) - decided
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func quoted(subject string) string {
	if subject == "" {
		return ""
	}
	return fmt.Sprintf(" %q", printable(short(subject, 50)))
}

// tally prints lines and remembers the first error.
type tally struct {
	w   io.Writer
	err error
}

func (t *tally) linef(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format+"\n", args...)
	}
}

// counted prints the most frequent entries first.
func counted[K ~string](t *tally, title string, counts map[K]int) {
	if len(counts) == 0 {
		return
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b K) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	t.linef("")
	t.linef("%s", title)
	for _, name := range names {
		t.linef("  %6d  %s", counts[name], printable(string(name)))
	}
}
