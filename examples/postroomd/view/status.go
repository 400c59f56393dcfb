package view

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/absence"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/learning"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/telemetry"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
	"github.com/postroom-go/postroom/safety/discord"
	"github.com/postroom-go/postroom/safety/events"
	"github.com/postroom-go/postroom/safety/groups"
)

// A Status is the JSON of the command status.
type Status struct {
	Version   string              `json:"version"`
	Database  string              `json:"database"`
	Accounts  []AccountStatus     `json:"accounts"`
	Jobs      map[queue.State]int `json:"jobs"`
	Approvals int                 `json:"approvals"`           // waiting
	NotAsked  []string            `json:"not_asked,omitempty"` // about what nobody is asked for the rest of the day
	Stopped   string              `json:"stopped,omitempty"`   // who has stopped everything, when and why
	RuleFiles []RulesStatus       `json:"rules_files,omitempty"`
	Disabled  []DisabledRule      `json:"disabled_rules,omitempty"`
	Drifts    []learning.Drift    `json:"drifts,omitempty"`
	Quiet     *QuietStatus        `json:"quiet_hours,omitempty"` // nil: these are none
	DryRun    bool                `json:"dry_run,omitempty"`
	Discord   *DiscordStatus      `json:"discord,omitempty"`
	Models    []string            `json:"models"`    // that are configured
	Outages   []Outage            `json:"outages"`   // why models are not asked
	Undecided int                 `json:"undecided"` // messages that wait for a model
	Unusable  int                 `json:"unusable"`  // messages of the last week about which a model gave no usable answer
	// messages about which nothing is decided until the rules of the file are stored
	Held int `json:"waiting_for_rules,omitempty"`
	// messages to send that wait for the limit of their recipients in a day
	Sending int `json:"waiting_to_send,omitempty"`
	// messages about which a dry run has decided, and the next run decides
	Tried int `json:"waiting_after_dry_run,omitempty"`

	NoMailbox string `json:"-"` // what makes the first
}

// A DiscordStatus describes requests at Discord; it is left out if Discord is not configured.
type DiscordStatus struct {
	Channel string `json:"channel"`
	People  int    `json:"people"` // who may answer there
	Posted  int    `json:"posted"` // requests that wait and have a message
}

// An AccountStatus is how far a mailbox is taken in, and what holds it.
type AccountStatus struct {
	ID         string                  `json:"id"`
	Email      string                  `json:"email"`
	State      mailstore.AccountState  `json:"state"`
	Reason     string                  `json:"reason,omitempty"` // of the state
	Messages   int                     `json:"messages"`         // taken in, broken ones too
	HistoryID  uint64                  `json:"history_id"`
	LastSyncAt time.Time               `json:"last_sync_at,omitzero"`
	SyncAge    float64                 `json:"sync_age_seconds,omitempty"` // since the history was last read to its end
	Backfill   mailstore.BackfillState `json:"backfill"`
	Failure    string                  `json:"backfill_error,omitempty"` // why it has failed
	Query      string                  `json:"backfill_query,omitempty"`
	Listed     int                     `json:"backfill_listed"`       // messages so far
	Estimate   int                     `json:"backfill_estimate"`     // of all there are to list
	SetupError string                  `json:"setup_error,omitempty"` // why nothing is decided about its mail
	// OldMail says where mail is left alone that came before the account was added.
	OldMail string `json:"old_mail,omitempty"`
	// OldMailRules counts the actions that the rules would do with it, by the names of the rules.
	OldMailRules map[string]int `json:"old_mail_rules,omitempty"`
	Wanted       []string       `json:"labels_to_make,omitempty"`
	// Of messages that have become old enough for a rule: how many it was asked again about, and what came of it.
	Aged          int `json:"aged,omitempty"`
	AgedActions   int `json:"aged_actions,omitempty"`
	AgedLeftAlone int `json:"aged_left_alone,omitempty"` // a person has changed it by hand, or undone it

	// Away says that mail is answered while the owner is away; empty if it is not.
	Away string `json:"away,omitempty"`
	// Archive says how the copies of its mail are, and ArchiveFault what is wrong with them; empty without an archive.
	Archive      string `json:"archive,omitempty"`
	ArchiveFault string `json:"archive_fault,omitempty"`

	Access string `json:"access,omitempty"` // What this machine lacks to work on it, and what to do

	signIn string // What to do where the grant is gone
}

// NewStatus reads how far the mailboxes are taken in, and what waits.
func NewStatus(ctx context.Context, h *app.App) (*Status, error) {
	s, err := newUncounted(ctx, h)
	if err != nil {
		return nil, err
	}
	for i := range s.Accounts {
		if s.Accounts[i].Messages, err = h.CountMail(ctx, s.Accounts[i].ID); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// newUncounted is NewStatus without the number of stored messages, which takes long in a large mailbox.
func newUncounted(ctx context.Context, h *app.App) (*Status, error) {
	s := &Status{Version: telemetry.Version(), Database: h.Env.DatabaseName(), Accounts: []AccountStatus{},
		Models: []string{}, DryRun: h.Env.Config.Safety.DryRun, NoMailbox: h.Env.HowToAddMailbox()}
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	if s.Stopped, err = h.StoppedBy(ctx); err != nil {
		return nil, err
	}
	for _, a := range accounts {
		of, err := newAccountStatus(ctx, h, a)
		if err != nil {
			return nil, err
		}
		s.Accounts = append(s.Accounts, of)
	}
	if s.Approvals, err = h.Ledger.CountApprovals(ctx); err != nil {
		return nil, err
	}
	if s.NotAsked, err = newNotAsked(ctx, h); err != nil {
		return nil, err
	}
	if s.RuleFiles, err = newRulesStatus(ctx, h, accounts); err != nil {
		return nil, err
	}
	if s.Disabled, err = newDisabledRules(ctx, h); err != nil {
		return nil, err
	}
	for _, a := range accounts {
		drifts, err := learning.Drifts(ctx, h, a)
		if err != nil {
			return nil, err
		}
		s.Drifts = append(s.Drifts, drifts...)
	}
	if s.Quiet, err = newQuietStatus(ctx, h); err != nil {
		return nil, err
	}
	if s.Discord, err = newDiscordStatus(ctx, h); err != nil {
		return nil, err
	}
	if s.Jobs, err = h.Queue.Counts(ctx, queue.Filter{}); err != nil {
		return nil, err
	}
	s.Models = h.Models.Names()
	if s.Outages, err = newOutages(ctx, h); err != nil {
		return nil, err
	}
	waiting, err := h.Backlog.CountUndecided(ctx)
	s.Undecided, s.Held, s.Tried = waiting.Model, waiting.Rules, waiting.Tried
	if err == nil {
		s.Sending, err = outbox.CountWaiting(ctx, h.DB, h.Ledger)
	}
	if err == nil {
		s.Unusable, err = CountUnusable(ctx, h, safety.Filter{Since: time.Now().Add(-unusableSince), Limit: app.MaxListed})
	}
	return s, err
}

// unusableSince is how far back unusable answers are counted.
const unusableSince = 7 * 24 * time.Hour

// newNotAsked lists about what models have caused so many requests within a day that nobody is asked about the rest.
func newNotAsked(ctx context.Context, h *app.App) (list []string, err error) {
	recent, err := h.Ledger.Events().List(ctx, 100)
	for _, e := range recent {
		if e.Kind == events.NotAsked && time.Since(e.At) < groups.Window {
			list = append(list, e.Why)
		}
	}
	return list, err
}

// A QuietStatus describes the quiet hours of now.
type QuietStatus struct {
	Until   time.Time `json:"until"`
	Waiting int       `json:"waiting"` // actions
}

// newQuietStatus returns nil if these are no quiet hours.
func newQuietStatus(ctx context.Context, h *app.App) (*QuietStatus, error) {
	until, err := h.QuietUntil(time.Now())
	if err != nil || until.IsZero() {
		return nil, err
	}
	jobs, err := h.Queue.Counts(ctx, queue.Filter{Types: []string{string(gmail.JobAction), string(outbox.JobSend)}})
	return &QuietStatus{Until: until, Waiting: jobs[queue.StateQueued]}, err
}

// String is empty without quiet hours.
func (q *QuietStatus) String() string {
	if q == nil {
		return ""
	}
	return "until " + printer.Minute(q.Until) + "; " + printer.Count(q.Waiting, "action waits", "actions wait")
}

func newDiscordStatus(ctx context.Context, h *app.App) (*DiscordStatus, error) {
	if !h.Env.AsksDiscord() {
		return nil, nil
	}
	people, err := discord.Whitelist(ctx, h.DB)
	if err != nil {
		return nil, err
	}
	posted, err := discord.Posted(ctx, h.DB)
	return &DiscordStatus{Channel: h.Env.Config.Discord.ChannelID, People: len(people), Posted: posted}, err
}

func newAccountStatus(ctx context.Context, h *app.App, a mailstore.Account) (AccountStatus, error) {
	aged, err := h.CountAged(ctx, a.ID)
	of := AccountStatus{
		SetupError: a.SetupError, Aged: aged.Messages, AgedActions: aged.Actions, AgedLeftAlone: aged.LeftAlone,
		ID: a.ID, Email: a.Email, State: a.State, Reason: a.Reason, HistoryID: a.HistoryID,
		LastSyncAt: a.LastSyncAt,
		Backfill:   a.Backfill.State, Failure: a.Backfill.Error, Query: a.Backfill.Query,
		Listed: a.Backfill.Messages, Estimate: a.Backfill.Estimate,
	}
	if err == nil && !a.DecideSince.IsZero() {
		of.OldMail, of.OldMailRules, err = oldMail(ctx, h, a)
	}
	switch a.State {
	case mailstore.AccountReauthorize:
		of.signIn = h.Env.HowToSignIn(a)
	case mailstore.AccountActive:
		of.Access = h.Env.MissingCredentials(ctx, a)
	}
	if !a.LastSyncAt.IsZero() {
		of.SyncAge = max(time.Since(a.LastSyncAt), time.Millisecond).Seconds()
	}
	if err == nil {
		of.Wanted, err = h.Mail.WantedLabels(ctx, a.ID)
	}
	if err == nil {
		var away absence.Status
		away, err = absence.Of(ctx, h, a)
		of.Away = away.Line()
	}
	if err == nil {
		of.Archive, of.ArchiveFault, err = h.Archive.Of(ctx, a.ID, printer.Minute)
	}
	return of, err
}

// oldMail says how many messages are left alone that came before the account was added, and what the rules would do
// with them.
func oldMail(ctx context.Context, h *app.App, a mailstore.Account) (text string, byRule map[string]int, err error) {
	const most = 1000 // counted: each is read
	old, err := h.Mail.CountOldUpTo(ctx, a, most+1)
	if err != nil {
		return "", nil, err
	}
	many := ""
	if old > most {
		many, old = "more than ", most
	}
	text = fmt.Sprintf("%s%s stored from before %s, and nothing is done to what came before; ", many,
		printer.Count(old, "message is", "messages are"), printer.Clock(a.DecideSince))
	sorts := fmt.Sprintf("'postroomd rules apply --mailbox %s' sorts it", a.Email)
	m, err := h.OldMail(ctx, a.ID)
	if m == nil || m.Actions() == 0 || m.CountedAt.Before(m.AskedAt) {
		return text + sorts, nil, err
	}
	return fmt.Sprintf("%sthe rules of %s would do %s (%s), and %s", text, printer.Clock(m.CountedAt),
		printer.Count(m.Actions(), "action", "actions"), ByRule(m.Rules), sorts), m.Rules, nil
}

// ByRule writes numbers of actions by the names of their rules, the most frequent first.
func ByRule(counts map[string]int) string {
	var list []string
	for _, name := range mostFirst(counts) {
		list = append(list, fmt.Sprintf("%s %d", printer.Printable(name), counts[name]))
	}
	return strings.Join(list, ", ")
}

// Why is the reason of the state, or why nothing is done here, and what to do about it.
func (a AccountStatus) Why() string {
	return strings.Join(slices.DeleteFunc([]string{a.Reason, a.signIn, a.Access}, func(s string) bool {
		return s == ""
	}), "; ")
}

// Print prints the status for people.
func (s *Status) Print(w io.Writer) error {
	f := printer.NewFields(w)
	f.Add("version", s.Version)
	f.Add("database", s.Database)
	for _, a := range s.Accounts {
		f.Add("account", a.Email)
		f.Add("  state", strings.TrimRight(string(a.State)+" "+a.Why(), " "))
		synced := "never"
		if !a.LastSyncAt.IsZero() {
			synced = time.Duration(a.SyncAge*float64(time.Second)).Round(time.Second).String() + " ago"
		}
		f.Add("  synced", synced)
		f.Add("  backfill", fmt.Sprintf("%s, %d of about %d listed", a.Backfill, a.Listed, max(a.Estimate, a.Listed)))
		if a.Failure != "" {
			f.Add("  failure", a.Failure+"; the next start of 'postroomd run' goes on with the backfill")
		}
		f.Add("  messages", a.Messages)
		f.Add("  fault", printer.Unless(a.SetupError == "", "nothing is decided about its mail, since it cannot be set up: "+
			a.SetupError))
		f.Add("  old mail", a.OldMail)
		f.Add("  away", a.Away)
		if a.Aged > 0 {
			f.Add("  age", fmt.Sprintf("%s old enough for a rule, %s by it, %d left alone that you have changed or undone",
				printer.Count(a.Aged, "message is", "messages are"), printer.Count(a.AgedActions, "action", "actions"),
				a.AgedLeftAlone))
		}
		f.Add("  labels", printer.Unless(len(a.Wanted) == 0, "to be made: "+strings.Join(a.Wanted, ", ")))
	}
	if len(s.Accounts) == 0 {
		f.Add("accounts", "none; "+s.NoMailbox)
	}
	f.Add("jobs", fmt.Sprintf("%d waiting, %d running, %d failed", s.Jobs[queue.StateQueued], s.Jobs[queue.StateRunning],
		s.Jobs[queue.StateFailed]))
	f.Add("actions", s.Stopped)
	f.Add("dry run", printer.Unless(!s.DryRun, "nothing is carried out"))
	f.Add("quiet hours", s.Quiet.String())
	f.Add("approvals", fmt.Sprintf("%d waiting", s.Approvals))
	for _, why := range s.NotAsked {
		f.Add("  not asked", why)
	}
	for i := range s.RuleFiles {
		s.RuleFiles[i].print(f)
	}
	for _, d := range s.Disabled {
		f.Add("rule disabled", d.String()+"; it decides nothing until it is changed")
	}
	for i := range s.Drifts {
		d := &s.Drifts[i]
		f.Add("corrected", fmt.Sprintf("%s %s; 'postroomd learn right %s --mailbox %s' ends that", d.What(), d.Why, d.Typed(),
			d.Mailbox))
	}
	if d := s.Discord; d != nil {
		f.Add("discord", fmt.Sprintf("%d posted to channel %s, for %s to answer", d.Posted, d.Channel,
			printer.Count(d.People, "person", "people")))
	}
	f.Add("models", strings.Join(s.Models, ", "))
	for _, o := range s.Outages {
		f.Add("  not asked", o.String())
	}
	if s.Undecided > 0 {
		f.Add("  undecided", printer.Count(s.Undecided, "message waits", "messages wait")+" for a model")
	}
	if s.Unusable > 0 {
		f.Add("  unusable", printer.Count(s.Unusable, "message", "messages")+
			printer.Unless(s.Unusable < app.MaxListed, " or more")+
			" of the last 7 days got no usable answer, and nothing was done; see 'postroomd decisions list --unusable'")
	}
	if s.Held > 0 {
		f.Add("waiting", printer.Count(s.Held, "message", "messages")+
			", until the rules of the file are stored; /readyz and 'postroomd jobs list --type labels.sync.gmail' say what that waits for")
	}
	if s.Sending > 0 {
		f.Add("waiting", printer.Count(s.Sending, "message", "messages")+
			", for the day's limit of recipients (outbound.recipients_day)")
	}
	if s.Tried > 0 {
		f.Add("dry run", printer.Count(s.Tried, "message was", "messages were")+
			" decided about and left as they are; the next start without a dry run decides about them")
	}
	return f.Flush()
}

// MostMail bounds what pages count of the mail of a mailbox.
const MostMail = 10_000

// CountMail counts the stored messages of a mailbox, at most [MostMail]; many reports whether there are more.
func CountMail(ctx context.Context, h *app.App, accountID string) (n int, many bool, err error) {
	n, err = h.CountMailUpTo(ctx, accountID, MostMail+1)
	return min(n, MostMail), n > MostMail, err
}

// A Mailbox is a mailbox with what a person may do about it.
type Mailbox struct {
	AccountStatus
	Many   bool      // there are more than Messages
	Done   int       // the part of the backfill that is listed, in percent
	Ends   time.Time // when the backfill ends, if it goes on as it did; zero: nobody knows
	SignIn string    // the command that signs in
}

// NewMailboxes reads the mailboxes.
func NewMailboxes(ctx context.Context, h *app.App, now time.Time) ([]Mailbox, error) {
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]Mailbox, len(accounts))
	for i, a := range accounts {
		if list[i].AccountStatus, err = newAccountStatus(ctx, h, a); err != nil {
			return nil, err
		}
		if list[i].Messages, list[i].Many, err = CountMail(ctx, h, a.ID); err != nil {
			return nil, err
		}
		list[i].foresee(a.DecideSince, now)
		if h.Env.Config.Gmail.ClientID != "" {
			list[i].SignIn = "postroomd auth login " + a.Email
		}
	}
	return list, nil
}

// foresee says how far the backfill is, and when it ends at its rate since the mailbox was added.
func (m *Mailbox) foresee(added, now time.Time) {
	all := max(m.Estimate, m.Listed)
	if m.Backfill != mailstore.BackfillRunning || all == 0 {
		return
	}
	m.Done = m.Listed * 100 / all
	if m.Listed > 0 && now.After(added) && !added.IsZero() {
		rest := float64(all-m.Listed) / float64(m.Listed)
		m.Ends = now.Add(time.Duration(rest * float64(now.Sub(added))))
	}
}
