package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
)

// A summary is the output of the demo; scripts rely on its JSON.
type summary struct {
	Messages  int                         `json:"messages"` // taken in, broken ones too
	New       int                         `json:"new"`      // of these, by this run
	Actions   map[postroom.ActionType]int `json:"actions"`
	Rules     map[string]int              `json:"rules"`
	Failed    int                         `json:"failed"`    // of the actions
	Approvals int                         `json:"approvals"` // waiting
	Unmatched int                         `json:"unmatched"`
	Broken    []brokenMessage             `json:"broken"`
	Jobs      map[queue.State]int         `json:"jobs"`
	Seconds   float64                     `json:"seconds"`
}

type brokenMessage struct {
	Index   int    `json:"index"` // in the mailbox, counted from 1
	Subject string `json:"subject"`
	Reason  string `json:"reason"`
	JobID   string `json:"job_id,omitempty"` // the job that can be retried; none for what Gmail itself refuses
}

func (d *demoRun) summarize(ctx context.Context, before int) (*summary, error) {
	counts, err := d.ledger.Summary(ctx, d.accountID)
	if err != nil {
		return nil, err
	}
	jobs, err := d.queue.Counts(ctx, queue.Filter{})
	if err != nil {
		return nil, err
	}
	now, err := d.known(ctx)
	if err != nil {
		return nil, err
	}
	broken, err := d.broken(ctx)
	if err != nil {
		return nil, err
	}
	if d.cutShort != nil {
		total, err := d.server.Count(ctx)
		if err != nil {
			return nil, err
		}
		broken = append(broken, brokenMessage{Index: total + 1, Reason: d.cutShort.Error()})
	}
	refused := slices.DeleteFunc(slices.Clone(broken), func(b brokenMessage) bool { return b.JobID != "" })
	now += len(refused)
	return &summary{
		Messages: now, New: now - len(refused) - before, Actions: counts.Actions, Rules: counts.Rules, Approvals: counts.Approvals,
		Failed:    counts.States[postroom.ActionFailed],
		Unmatched: counts.Unmatched, Broken: broken, Jobs: jobs,
	}, nil
}

func (d *demoRun) broken(ctx context.Context) ([]brokenMessage, error) {
	kept, err := d.mail.Broken(ctx, d.accountID)
	if err != nil {
		return nil, err
	}
	refused, err := d.server.Refused(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]brokenMessage, 0, len(kept)+len(refused))
	for _, r := range refused {
		list = append(list, brokenMessage{Index: r.Position, Subject: r.Subject, Reason: r.Problem})
	}
	for _, b := range kept {
		position, err := d.server.Position(ctx, b.ProviderID)
		if err != nil {
			return nil, err
		}
		list = append(list, brokenMessage{Index: position, Subject: b.Subject, Reason: b.Reason, JobID: b.JobID})
	}
	slices.SortFunc(list, func(a, b brokenMessage) int { return cmp.Compare(a.Index, b.Index) })
	return list, nil
}

// print writes the summary for a person; program is the command by which they call this program.
func (s *summary) print(w io.Writer, program string, f folder) error {
	t := &tally{w: w}
	t.linef("Sorted %d messages, %d of them new, in %.1f s.", s.Messages, s.New, s.Seconds)
	counted(t, "Actions", s.Actions)
	counted(t, "Rules", s.Rules)
	t.linef("")
	t.linef("%d messages matched no rule; %d actions wait for approval.", s.Unmatched, s.Approvals)
	if left := s.undecided(); left > 0 {
		t.linef("%d messages are sent mail, drafts, spam or trash, about which nothing is decided.", left)
	}
	if s.Failed > 0 {
		t.linef("%d actions failed; to see why: %s actions --state failed --json --data %s", s.Failed, program, f)
	}
	if len(s.Broken) > 0 {
		t.linef("")
		t.linef("%d messages could not be read. What arrived is kept as it came; what Gmail itself refuses stays in your file:", len(s.Broken))
		for _, b := range s.Broken {
			t.linef("  message %d%s: %s", b.Index, quoted(b.Subject), printable(b.Reason))
			if b.JobID != "" {
				t.linef("    to try again: %s jobs retry %s --data %s", program, b.JobID, f)
			}
		}
	}
	t.linef("")
	t.linef("What was done:         %s actions --data %s", program, f)
	t.linef("What waits for you:    %s approvals list --data %s", program, f)
	t.linef("To take one back:      %s undo ACTION_ID --data %s", program, f)
	return t.err
}

// undecided counts the messages with a label that excludes them from decisions.
func (s *summary) undecided() int {
	decided := s.Unmatched
	for _, n := range s.Rules {
		decided += n
	}
	return s.Messages - len(s.Broken) - decided
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

// counted prints what there is most of first.
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
