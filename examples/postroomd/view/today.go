package view

import (
	"context"
	"slices"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/learning"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
)

// A Today is what a person looks at first: how it stands, what is wrong, and what was done last.
type Today struct {
	Status   *Status
	Troubles []Trouble
	Working  int    // jobs that run
	Queued   int    // jobs that wait
	Last     []Deed // the newest first
	Activity *Activity
}

// A Trouble is something that is wrong, and what mends it.
type Trouble struct {
	What string // one sentence
	Why  string // may be empty
	Mend *Mend  // nil: Why says what to do
}

// A Mend is what mends a trouble by one click.
type Mend struct {
	Do   string // "resume-mailbox", "sign-in", "enable-rule", "right-again", "resume-agent", "resume" or "jobs"
	ID   string // of the mailbox or the rule, or the name of the agent; empty for the others
	Rule string // of "right-again", whose ID is that of the mailbox
	Text string // of the button
}

// lastDeeds bounds the newest actions of a Today.
const lastDeeds = 8

// NewToday reads how it stands, and what came and was decided in a window that ends now: of one mailbox, by its id, or
// for an empty id of all.
func NewToday(ctx context.Context, h *app.App, accountID string, w Window, now time.Time) (*Today, error) {
	v := new(Today)
	var err error
	if v.Status, err = newStatusOf(ctx, h, accountID); err != nil {
		return nil, err
	}
	v.Working, v.Queued = v.Status.Jobs[queue.StateRunning], v.Status.Jobs[queue.StateQueued]
	if v.Troubles, err = troubles(ctx, h, v.Status); err != nil {
		return nil, err
	}
	paused, err := pausedAgents(ctx, h, accountID)
	if err != nil {
		return nil, err
	}
	v.Troubles = append(v.Troubles, paused...)
	if v.Last, err = NewDeeds(ctx, h, accountID, lastDeeds); err != nil {
		return nil, err
	}
	v.Activity, err = NewActivity(ctx, h, accountID, w, now)
	return v, err
}

// newStatusOf is newUncounted of one mailbox. Jobs, models and files are of all mailboxes, and left out of it.
func newStatusOf(ctx context.Context, h *app.App, accountID string) (*Status, error) {
	s, err := newUncounted(ctx, h)
	if err != nil || accountID == "" {
		return s, err
	}
	s.Accounts = slices.DeleteFunc(s.Accounts, func(a AccountStatus) bool { return a.ID != accountID })
	s.Disabled = slices.DeleteFunc(s.Disabled, func(d DisabledRule) bool {
		return d.Mailbox != "" && (len(s.Accounts) == 0 || d.Mailbox != s.Accounts[0].Email)
	})
	s.Drifts = slices.DeleteFunc(s.Drifts, func(d learning.Drift) bool { return d.AccountID != accountID })
	s.Jobs, s.Outages, s.RuleFiles, s.NotAsked, s.Discord = nil, nil, nil, nil, nil
	s.Undecided, s.Held, s.Sending, s.Tried = 0, 0, 0, 0
	if s.Stopped, err = h.StoppedIn(ctx, accountID); err != nil {
		return nil, err
	}
	s.Approvals, err = CountWaiting(ctx, h, accountID)
	return s, err
}

// troubles lists what needs a person, what stops most first.
func troubles(ctx context.Context, h *app.App, s *Status) (list []Trouble, err error) {
	if err := h.Probe(ctx); err != nil {
		list = append(list, Trouble{What: "The database cannot be written.",
			Why: err.Error() + ". Nothing is lost; everything goes on when it can. Often the disk is full."})
	}
	stopped, err := h.Ledger.Switch().Stopped(ctx)
	if err != nil {
		return nil, err
	}
	if stopped == nil && s.Stopped != "" { // a restored database, or breakers
		list = append(list, Trouble{What: "Something is stopped.", Why: s.Stopped, Mend: breakerMend(ctx, h)})
	}
	for _, a := range s.Accounts {
		list = append(list, a.troubles()...)
	}
	for _, r := range s.Disabled {
		list = append(list, Trouble{What: "The rule " + r.Named() + " decides nothing.", Why: r.Reason,
			Mend: &Mend{Do: "enable-rule", ID: r.ID, Text: "Enable it"}})
	}
	for i := range s.Drifts {
		d := &s.Drifts[i]
		list = append(list, Trouble{What: d.What(), Why: "In " + d.Mailbox + ", " + d.Why + ".",
			Mend: &Mend{Do: "right-again", ID: d.AccountID, Rule: d.Typed(), Text: "It is right"}})
	}
	for _, o := range s.Outages {
		list = append(list, Trouble{What: "The model " + o.Model + " is not asked.", Why: o.String()})
	}
	if n := s.Jobs[queue.StateFailed]; n > 0 {
		list = append(list, Trouble{What: printer.Count(n, "job has failed.", "jobs have failed."),
			Why: "What it should have done is not done; it can be retried.", Mend: &Mend{Do: "jobs", Text: "Look at them"}})
	}
	return list, nil
}

// pausedAgents lists the agents that failures have paused. Why is of all mailboxes, and left out for one.
func pausedAgents(ctx context.Context, h *app.App, accountID string) (list []Trouble, err error) {
	profiles, err := h.Agents.Profiles(ctx)
	for _, p := range profiles {
		if p.PausedAt.IsZero() {
			continue
		}
		t := Trouble{What: "The agent " + p.Name + " is paused: mail that comes is left alone.",
			Mend: &Mend{Do: "resume-agent", ID: p.Name, Text: "Resume it"}}
		if accountID == "" {
			t.Why = p.Reason
		}
		list = append(list, t)
	}
	return list, err
}

// breakerMend closes the breakers, if any is open: a restored database is accepted at the command line.
func breakerMend(ctx context.Context, h *app.App) *Mend {
	if text, err := h.OpenBreakers(ctx); err != nil || text == "" {
		return nil
	}
	return &Mend{Do: "resume", Text: "Resume"}
}

// troubles lists what is wrong with the mailbox.
func (a AccountStatus) troubles() (list []Trouble) {
	switch {
	case a.State == mailstore.AccountReauthorize:
		list = append(list, Trouble{What: a.Email + " has lost its grant: nothing is read there.", Why: a.Why(),
			Mend: &Mend{Do: "sign-in", ID: a.ID, Text: "Sign in again"}})
	case a.State == mailstore.AccountPaused:
		list = append(list, Trouble{What: a.Email + " is paused.", Why: a.Why(),
			Mend: &Mend{Do: "resume-mailbox", ID: a.ID, Text: "Resume it"}})
	case a.Access != "":
		list = append(list, Trouble{What: a.Email + " cannot be reached from this machine.", Why: a.Access})
	case a.SetupError != "":
		list = append(list, Trouble{What: "Nothing is decided about the mail of " + a.Email + ".",
			Why: "It cannot be set up: " + a.SetupError})
	}
	if a.Failure != "" {
		list = append(list, Trouble{What: "The older mail of " + a.Email + " is not read to its end.",
			Why: a.Failure + ". The next start of postroomd goes on with it."})
	}
	if a.ArchiveFault != "" {
		list = append(list, Trouble{What: "The archive of " + a.Email + " is not right.", Why: a.ArchiveFault})
	}
	return list
}
