package safety

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/audit"
	"github.com/postroom-go/postroom/safety/checkpoint"
	"github.com/postroom-go/postroom/safety/events"
	"github.com/postroom-go/postroom/safety/gate"
	"github.com/postroom-go/postroom/safety/internal/keyring"
)

// Config configures a [Ledger]. It is copied and checked once, by [NewLedger].
type Config struct {
	// DB holds the tables of the ledger. Required; [Migrate] must have prepared it.
	DB queue.DB

	// Policy configures the gate. The zero Policy uses the defaults.
	Policy gate.Policy

	// PolicyOf returns the gate of an account whose policy differs, made by [gate.New]; nil for those that Policy
	// is for. It is asked when a decision is recorded, when its action starts, and when a breaker counts, in
	// a transaction: it must not use the database. Default nil: Policy is for all accounts.
	PolicyOf func(accountID string) *gate.Gate

	// Kinds are the actions that can be carried out. A decision for any other is [ErrInvalidDecision]. Default nil:
	// those that package gmail carries out.
	Kinds *postroom.Kinds

	// Rules looks up the rule of each decision of source deterministic, in the transaction that records it. If the
	// stored rule differs from the one that matched, a person is asked. The safe mode is that of the store. Default nil:
	// no rule can be looked up, and no safe mode counts.
	Rules Rules

	// Labels lists the labels of an account. A model's decision for a label that does not exist, or that is kept from
	// models, waits for a person. Default nil: labels are not looked up.
	Labels Labels

	// Sent looks up what a mailbox sent before it was removed and came back, so that nothing is sent twice without a
	// person. Default nil: nothing is looked up.
	Sent Sent

	// Refusals knows what would be refused when it is carried out, such as an answer to a mailing list: it is recorded
	// as canceled or failed, with the reason, and nobody is asked to approve it. Default nil: nothing is asked, and the
	// job finds out.
	Refusals Refusals

	// Correspondents knows to whom the user has written: people are still asked about these senders where a flood has
	// reached the bound of requests that unverified senders, or those of one provider, share. Default nil: no sender is
	// known.
	Correspondents Correspondents

	// Forbids knows what the user has forbidden to models: a model's decision to do it is recorded as canceled, with the
	// reason, and nobody is asked to approve it. Default nil: nothing is forbidden.
	Forbids Forbids

	// Drifts knows the rules and models whose decisions people have corrected too often: a person is asked about what they
	// decide, whatever the safe mode. Default nil: none is known.
	Drifts Drifts

	// Execute enqueues the job that executes an action. It is called in the transaction that makes the action queued; an
	// error rolls that back. An action that was held is queued a second time when it is approved, so the key of the job
	// must be free again when the job has finished. Required.
	Execute func(ctx context.Context, tx queue.Tx, action postroom.Action) error

	// Ask enqueues the job that notifies a person of a request for approval. It is called in the transaction that makes
	// the request; an error rolls that back. Default nil: nobody is notified, and people list the requests with
	// [Ledger.Approvals].
	Ask func(ctx context.Context, tx queue.Tx, request Approval) error

	// Joined is called when a request joins others that a person answers together, or one of several ends, with the first
	// of them that waits, for programs that show them as one. Ask is called for the first of a group only, and for the
	// next of it once the first is answered or withdrawn. Default nil: no call.
	Joined func(ctx context.Context, tx queue.Tx, first Approval) error

	// Notify is called when a person stops or resumes, when a breaker does, and when models have caused so many requests
	// that people are not asked about more of the kind that day: once for each change, in its transaction, to enqueue
	// a job that notifies people. An error rolls the change back. Default nil: people read [stop.Switch.Stopped] and
	// [events.Log.List].
	Notify func(ctx context.Context, tx queue.Tx, e events.Event) error

	// StopFile is the path of a file that stops this process: while it exists, or cannot be read, no action starts, as
	// after [stop.Switch.Stop], which stops all processes. The ledger checks the file each time before an action starts.
	// Default empty: no file.
	StopFile string

	// Checkpoint remembers outside of the database how far it has come, so that a database that is put back repeats
	// nothing; see [Ledger.Remember] and [checkpoint.File]. Default nil: a database that is put back is not noticed.
	Checkpoint checkpoint.Store

	// Audit is the log of what is decided, permitted and done; *audit.Log implements it. Default nil: no log.
	Audit AuditLog

	// DryRun records all decisions and carries out nothing. An action that would be queued, or would wait for a person, is
	// recorded as canceled and stays canceled. An action that was queued before waits until the dry run is over. Default
	// false.
	DryRun bool

	// OnAnswer is called when a request for approval is approved, rejected or withdrawn, by any process, in the
	// transaction that does it; an error rolls that back. Default nil: no call.
	OnAnswer func(ctx context.Context, tx queue.Tx, request Approval) error

	// OnEnded is called when an action that was queued, executing or waiting has failed, or was canceled or rejected, in
	// the transaction that ends it; an error rolls that back. Default nil: no call.
	OnEnded func(ctx context.Context, tx queue.Tx, action postroom.Action) error

	// Approvers are the names that may approve and reject, compared exactly; none may be blank. Default empty: every name.
	Approvers []string

	// Key signs requests for approval and approvals, so that nothing else is executed; at least 32 bytes. All programs
	// that share the database need the same key. Default nil: a random key that Migrate makes and the database keeps.
	Key []byte

	// OldKeys are replaced keys. They verify what they signed, and sign nothing. What is signed with a key that is
	// neither here nor in Key cannot be verified: a person is asked again. Default nil: none.
	OldKeys [][]byte

	// ApprovalExpiry is the time within which a request can be approved, and after that the time within which the approved
	// action must start. Default 7 days; bounds 1 minute to 365 days.
	ApprovalExpiry time.Duration
}

const (
	defaultExpiry = 7 * 24 * time.Hour
	maxExpiry     = 365 * 24 * time.Hour
)

func (c Config) withDefaults() (Config, error) {
	if c.ApprovalExpiry == 0 {
		c.ApprovalExpiry = defaultExpiry
	}
	if c.Checkpoint == nil {
		c.Checkpoint = noCheckpoint{}
	}
	c.Approvers, c.Key, c.OldKeys = slices.Clone(c.Approvers), slices.Clone(c.Key), slices.Clone(c.OldKeys)
	for i, key := range c.OldKeys {
		c.OldKeys[i] = slices.Clone(key)
	}
	return c, c.validate()
}

// giveDB says how to open a database.
const giveDB = "a database opened with queue/sqlite or queue/postgres"

func (c *Config) validate() error {
	faults := []error{
		fields.Required("safety: Config.DB", c.DB, giveDB),
		fields.Optional("safety: Config.Rules", c.Rules),
		fields.Optional("safety: Config.Labels", c.Labels),
		fields.Optional("safety: Config.Sent", c.Sent),
		fields.Optional("safety: Config.Refusals", c.Refusals),
		fields.Optional("safety: Config.Forbids", c.Forbids),
		fields.Optional("safety: Config.Drifts", c.Drifts),
		fields.Optional("safety: Config.Correspondents", c.Correspondents),
		fields.Optional("safety: Config.Checkpoint", c.Checkpoint),
		fields.Optional("safety: Config.Audit", c.Audit),
		fields.Required("safety: Config.Execute", c.Execute,
			"a function that enqueues the job of an action; approved actions would never be executed"),
	}
	if r, ok := c.Rules.(interface{ Kinds() *postroom.Kinds }); ok && fields.Optional("", c.Rules) == nil {
		faults = append(faults, fields.Same("safety: Config.Kinds", c.Kinds, "Config.Rules", r.Kinds()))
	}
	if c.ApprovalExpiry < time.Minute || c.ApprovalExpiry > maxExpiry {
		faults = append(faults, fmt.Errorf("safety: Config.ApprovalExpiry is %v; it must be within 1m and %v",
			c.ApprovalExpiry, maxExpiry))
	}
	if c.Key != nil && len(c.Key) < keyring.MinKey {
		faults = append(faults, fmt.Errorf(
			"safety: Config.Key has %d bytes; give at least %d that nobody can guess, or leave it out", len(c.Key), keyring.MinKey))
	}
	for i, key := range c.OldKeys {
		if len(key) < keyring.MinKey {
			faults = append(faults, fmt.Errorf("safety: Config.OldKeys[%d] has %d bytes; a key has at least %d", i,
				len(key), keyring.MinKey))
		}
	}
	for i, name := range c.Approvers {
		if strings.TrimSpace(name) == "" {
			faults = append(faults, fmt.Errorf("safety: Config.Approvers[%d] is blank; give a name, or leave it out", i))
		}
	}
	return errors.Join(faults...)
}

func (c *Config) mayAnswer(approver string) error {
	if strings.TrimSpace(approver) == "" {
		return fmt.Errorf("safety: %w: the approver's name is blank, and it goes on record", ErrNotApprover)
	}
	if len(c.Approvers) > 0 && !slices.Contains(c.Approvers, approver) {
		return fmt.Errorf("safety: %q is %w: Config.Approvers does not have the name", approver, ErrNotApprover)
	}
	return nil
}

// Rules looks up rules; *rulestore.Store implements it.
type Rules interface {
	// StoredRule returns the rule as it is stored now, or [postroom.ErrNotFound].
	StoredRule(ctx context.Context, tx queue.Tx, id string) (postroom.StoredRule, error)
}

// Labels lists the labels of an account; *mailstore.Store implements it.
type Labels interface {
	LabelsTx(ctx context.Context, tx queue.Tx, accountID string) ([]postroom.Label, error)
}

// Sent looks up what was sent about a message, also before its mailbox was removed and came back; outbox.SentRecord
// implements it.
type Sent interface {
	// SentBefore returns, for people, what was already sent of what the action would send; empty if nothing. all reports
	// whether the action would send nothing else and the earlier send is certain.
	SentBefore(
		ctx context.Context, tx queue.Tx, msg *postroom.Message, action postroom.ActionType, parameters postroom.Parameters,
	) (said string, all bool, err error)
}

// Refusals knows what would be refused when it is carried out, whoever approves it; *outbox.Refusals implements it.
type Refusals interface {
	// Refusal says to people why the action cannot be carried out for the account, and what to do; empty if nothing is
	// known to speak against it. failed reports whether something is to be put right; otherwise the action is rightly
	// left undone. msg is the message that is decided about; it is nil when a person approves the action: what the
	// message says does not change.
	Refusal(
		ctx context.Context, tx queue.Tx, accountID string, msg *postroom.Message, action postroom.ActionType,
		parameters postroom.Parameters,
	) (why string, failed bool, err error)
}

// Correspondents knows to whom the user has written; senders.Correspondents of package gmail/senders implements it.
type Correspondents interface {
	// WrittenTo reports whether a person has written to the address from the account. It is called outside of
	// a transaction.
	WrittenTo(ctx context.Context, accountID, email string) (bool, error)
}

// Forbids knows what the user has forbidden to models; *guidance.Store of package llm/guidance implements it.
type Forbids interface {
	// Forbidden returns, for people, what forbids models to do the action to the message; empty if nothing does.
	Forbidden(ctx context.Context, tx queue.Tx, msg *postroom.Message, action postroom.ActionType) (why string, err error)
}

// Drifts knows the rules and models that people have corrected too often; *lessons.Store of package rules/lessons
// implements it.
type Drifts interface {
	// Asks returns, for people, why a person is to be asked about the decision; empty if no drift says so.
	Asks(ctx context.Context, tx queue.Tx, accountID string, d postroom.Decision) (why string, err error)
}

// An AuditLog is the log of what is decided, permitted and done; *audit.Log implements it.
type AuditLog interface {
	// Append adds entries in the caller's transaction.
	Append(ctx context.Context, tx queue.Tx, entries ...audit.Entry) error
	// Head returns the end of the log; zero if it is empty.
	Head(ctx context.Context, q audit.Querier) (audit.Head, error)
	// Has reports whether the log has a head, as its end or before.
	Has(ctx context.Context, q audit.Querier, head audit.Head) (bool, error)
	// Verify reads the whole log, and reports what was altered in it and in the tables.
	Verify(ctx context.Context, heads []audit.Head, tables ...audit.Table) (audit.Report, error)
}

var _ AuditLog = (*audit.Log)(nil)
