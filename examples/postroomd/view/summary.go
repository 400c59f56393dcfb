package view

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
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/queue"
)

// A Summary is the output of the demo and of run --once. Scripts rely on its JSON.
type Summary struct {
	Messages  int                         `json:"messages"` // that are stored now, broken ones too
	New       int                         `json:"new"`      // taken in by this run, also what it has deleted since
	Mailboxes []MailboxRun                `json:"mailboxes"`
	Actions   map[postroom.ActionType]int `json:"actions"`
	Rules     map[string]int              `json:"rules"`
	Models    map[string]int              `json:"models,omitempty"`
	Failed    int                         `json:"failed"`                    // of the actions
	Drafts    int                         `json:"drafts,omitempty"`          // of answers, that lie ready
	Approvals int                         `json:"approvals"`                 // waiting
	Waiting   int                         `json:"waiting_actions,omitempty"` // that are decided and are to be carried out
	// who has stopped everything or some of it, when and why
	Stopped   string `json:"stopped,omitempty"`
	Unmatched int    `json:"unmatched"`
	Undecided int    `json:"undecided,omitempty"` // about which a model is to decide later
	// about which nothing is decided until the rules of the file are stored
	Held int `json:"waiting_for_rules,omitempty"`
	// about which a dry run has decided, and the next run decides
	Tried    int                 `json:"waiting_after_dry_run,omitempty"`
	Outages  []Outage            `json:"outages,omitempty"` // why
	Wanted   []string            `json:"labels_to_make,omitempty"`
	Disabled []DisabledRule      `json:"disabled_rules,omitempty"`
	Broken   []BrokenMessage     `json:"broken"`
	Jobs     map[queue.State]int `json:"jobs"`
	Seconds  float64             `json:"seconds"`
	// what was decided in a dry run, and not done; the numbers above are without it
	Would *app.Would `json:"would,omitempty"`
}

// A BrokenMessage is a message that could not be read.
type BrokenMessage struct {
	Index   int    `json:"index"` // in the mailbox of a demo, counted from 1; else 0
	GmailID string `json:"gmail_id,omitempty"`
	Subject string `json:"subject"`
	Reason  string `json:"reason"`
	JobID   string `json:"job_id,omitempty"` // the job that can be retried; none for what Gmail itself refuses
}

// NewSummary counts what was done, and what was taken in since the run began; cutShort is why the mailbox could not
// be read to its end, if so.
func NewSummary(ctx context.Context, o *app.OneRun, cutShort error) (*Summary, error) {
	s := &Summary{Actions: map[postroom.ActionType]int{}, Rules: map[string]int{}, Models: map[string]int{},
		Broken: []BrokenMessage{}}
	for _, id := range o.Mailboxes {
		if err := addMailbox(ctx, o, s, id); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(s.Broken, func(a, b BrokenMessage) int { return cmp.Compare(a.Index, b.Index) })
	if cutShort != nil {
		total, err := o.App.Server.Count(ctx)
		if err != nil {
			return nil, err
		}
		s.Messages++
		s.Broken = append(s.Broken, BrokenMessage{Index: total + 1, Reason: cutShort.Error()})
	}
	var err error
	if s.Mailboxes, err = newMailboxRuns(ctx, o); err != nil {
		return nil, err
	}
	if s.Jobs, err = o.App.Queue.Counts(ctx, queue.Filter{}); err != nil {
		return nil, err
	}
	if s.Stopped, err = o.App.StoppedBy(ctx); err != nil {
		return nil, err
	}
	if s.Disabled, err = newDisabledRules(ctx, o.App); err != nil {
		return nil, err
	}
	waiting, err := o.App.Backlog.CountUndecided(ctx)
	s.Undecided, s.Held, s.Tried = waiting.Model, waiting.Rules, waiting.Tried
	if o.App.Env.Config.Safety.DryRun {
		would := o.App.Would()
		s.Would = &would
	}
	if err != nil || s.Undecided == 0 {
		return s, err
	}
	s.Outages, err = newOutages(ctx, o.App)
	return s, err
}

// addMailbox adds the numbers of one mailbox.
func addMailbox(ctx context.Context, o *app.OneRun, s *Summary, id string) error {
	counts, err := o.App.Ledger.Activity().Summary(ctx, id)
	if err != nil {
		return err
	}
	add(s.Actions, counts.Actions)
	add(s.Rules, counts.Rules)
	add(s.Models, counts.Models)
	s.Approvals += counts.Approvals
	s.Waiting += counts.States[postroom.ActionQueued] + counts.States[postroom.ActionExecuting]
	s.Failed += counts.States[postroom.ActionFailed]
	s.Unmatched += counts.Unmatched
	taken, err := o.App.Mail.CountStoredSince(ctx, id, o.Began)
	if err != nil {
		return err
	}
	known, err := o.App.CountMail(ctx, id)
	if err != nil {
		return err
	}
	broken, refused, err := brokenMessages(ctx, o, id)
	if err != nil {
		return err
	}
	drafts, err := o.App.Replies.Count(ctx, id)
	if err != nil {
		return err
	}
	s.Drafts += drafts[replies.Drafted]
	s.New += taken
	s.Messages += known + refused
	s.Broken = append(s.Broken, broken...)
	wanted, err := o.App.Mail.WantedLabels(ctx, id)
	for _, name := range wanted {
		if !slices.Contains(s.Wanted, name) {
			s.Wanted = append(s.Wanted, name)
		}
	}
	return err
}

func add[K comparable](sums, counts map[K]int) {
	for key, n := range counts {
		sums[key] += n
	}
}

// brokenMessages lists the messages that could not be read, and counts those that the demo's Gmail has refused.
func brokenMessages(ctx context.Context, o *app.OneRun, id string) (list []BrokenMessage,
	refused int, err error) {
	kept, err := o.App.Mail.Broken(ctx, id)
	if err != nil {
		return nil, 0, err
	}
	for _, b := range kept {
		list = append(list, BrokenMessage{GmailID: b.ProviderID, Subject: b.Subject, Reason: b.Reason, JobID: b.JobID})
	}
	if o.App.Server != nil {
		refused, err = numberBroken(ctx, o, &list)
	}
	return list, refused, err
}

// numberBroken asks the demo's Gmail for the places of messages in the mailbox, and for those that it has refused.
func numberBroken(ctx context.Context, o *app.OneRun, list *[]BrokenMessage) (refused int, err error) {
	for i := range *list {
		b := &(*list)[i]
		if b.Index, err = o.App.Server.Position(ctx, b.GmailID); err != nil {
			return 0, err
		}
	}
	problems, err := o.App.Server.Refused(ctx)
	for _, r := range problems {
		*list = append(*list, BrokenMessage{Index: r.Position, Subject: r.Subject, Reason: r.Problem})
	}
	return len(problems), err
}

// Print writes the summary for a person. program is the command that runs this program, and flags select the data.
func (s *Summary) Print(w io.Writer, program, flags string) error {
	t := &tally{w: w}
	t.linef("Took in %s in %.1f s; %d are stored.", printer.Count(s.New, "new message", "new messages"),
		s.Seconds, s.Messages)
	for i := range s.Mailboxes {
		s.Mailboxes[i].print(t, len(s.Mailboxes) > 1)
	}
	if s.Would != nil {
		printWould(t, s.Would)
	} else {
		s.printDone(t)
	}
	s.printStopped(t)
	if s.Undecided > 0 {
		t.linef("%s in the queue.", printer.Count(s.Undecided, "message waits for a model to decide about it; it stays",
			"messages wait for a model to decide about them; they stay"))
		for _, o := range s.Outages {
			t.linef("  %s", printer.Printable(o.String()))
		}
	}
	if s.Held > 0 {
		t.linef("%s until the rules of the file are stored.", printer.Count(s.Held, "message waits", "messages wait"))
	}
	if len(s.Wanted) > 0 {
		t.linef("%s missing, and not made now: %s.", printer.Count(len(s.Wanted), "label that the rules name is",
			"labels that the rules name are"), printer.Printable(strings.Join(s.Wanted, ", ")))
	}
	for _, d := range s.Disabled {
		t.linef("A rule is disabled, and decides nothing until it is changed: %s.", printer.Printable(d.String()))
	}
	if left := s.leftAlone(); left > 0 {
		of := "sent mail, drafts, spam or trash"
		if slices.ContainsFunc(s.Mailboxes, func(m MailboxRun) bool { return m.leavesOldMail }) {
			of = "mail from before the mailbox was added, " + of
		}
		t.linef("%s %s, about which nothing is decided.", printer.Count(left, "message is", "messages are"), of)
	}
	if s.Failed > 0 {
		t.linef("%s failed; to see why: %s actions --state failed --json %s", printer.Count(s.Failed, "action", "actions"),
			program, flags)
	}
	if len(s.Broken) > 0 {
		t.linef("")
		t.linef("%s could not be read. What arrived is kept as it came; what Gmail itself refuses stays in your file:",
			printer.Count(len(s.Broken), "message", "messages"))
		for _, b := range s.Broken {
			t.linef("  message %s%s: %s", cmp.Or(number(b.Index), b.GmailID), quoted(b.Subject), printer.Printable(b.Reason))
			if b.JobID != "" {
				t.linef("    to try again: %s jobs retry %s %s", program, b.JobID, flags)
			}
		}
	}
	t.linef("")
	t.linef("What was done:         %s actions %s", program, flags)
	t.linef("What waits for you:    %s approvals list %s", program, flags)
	if s.Drafts > 0 {
		t.linef("Drafts that lie ready: %s drafts list %s", program, flags)
	}
	t.linef("To take one back:      %s undo ACTION_ID %s", program, flags)
	return t.err
}

func (s *Summary) printDone(t *tally) {
	counted(t, "Actions", s.Actions)
	counted(t, "Rules", s.Rules)
	counted(t, "Models", s.Models)
	t.linef("")
	t.linef("%s matched no rule; %s for approval.", printer.Count(s.Unmatched, "message", "messages"),
		printer.Count(s.Approvals, "action waits", "actions wait"))
}

// printWould says in each line that a dry run has done nothing.
func printWould(t *tally, w *app.Would) {
	const not = "; nothing was done"
	t.linef("")
	t.linef("This was a dry run: nothing was done, and the next run decides as if there had been none.")
	for _, name := range mostFirst(w.Actions) {
		t.linef("  %6d  would be: %s%s", w.Actions[name], printer.Printable(string(name)), not)
	}
	t.linef("  %6d  would wait for approval%s", w.Approvals, not)
	if w.Refused > 0 {
		t.linef("  %6d  would be refused, for reasons that the log has%s", w.Refused, not)
	}
	for _, name := range mostFirst(w.Rules) {
		t.linef("  %6d  would be decided by rule %s%s", w.Rules[name], printer.Printable(name), not)
	}
	t.linef("  %6d  would match no rule%s", w.Unmatched, not)
}

// printStopped says what is not carried out, and why, if somebody has stopped it.
func (s *Summary) printStopped(t *tally) {
	if s.Waiting == 0 && s.Stopped == "" {
		return
	}
	t.linef("%s to be carried out%s", printer.Count(s.Waiting, "action waits", "actions wait"),
		cmp.Or(printer.Unless(s.Stopped == "", ":"), "."))
	for line := range strings.Lines(s.Stopped) {
		t.linef("  %s", printer.Printable(strings.TrimRight(line, "\n")))
	}
}

// leftAlone counts the messages that are too old for decisions, or have a label that excludes them.
func (s *Summary) leftAlone() int {
	decided := s.Unmatched + s.Undecided + s.Held + s.Tried
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
	return fmt.Sprintf(" %q", printer.Printable(printer.Short(subject, 50)))
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

// mostFirst returns the names, the most frequent first.
func mostFirst[K ~string](counts map[K]int) []K {
	return slices.SortedFunc(maps.Keys(counts), func(a, b K) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}

// counted prints the most frequent entries first.
func counted[K ~string](t *tally, title string, counts map[K]int) {
	if len(counts) == 0 {
		return
	}
	names := mostFirst(counts)
	t.linef("")
	t.linef("%s", title)
	for _, name := range names {
		t.linef("  %6d  %s", counts[name], printer.Printable(string(name)))
	}
}
