package guidance

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/internal/cleantext"
	"github.com/postroom-go/postroom/queue"
)

// ErrInvalid reports a direction or a rule that cannot be stored, with the field.
var ErrInvalid = errors.New("invalid guidance")

// ErrNameTaken reports that another rule has the name.
var ErrNameTaken = errors.New("another rule has this name")

// ErrChanged reports that a patch was made for an older revision of the direction or the rule.
var ErrChanged = errors.New("it has been changed meanwhile")

// DefaultPriority is the default priority of a direction or a rule.
const DefaultPriority = 100

// A Direction is a standing instruction in plain language, for all mail of an account or of all accounts.
type Direction struct {
	ID        string // empty: not stored yet
	AccountID string // empty: all accounts
	Text      string // 1 to 2000 characters
	Enabled   bool
	Priority  int // orders directions, low first, within ±1,000,000; then the older goes first
	CreatedAt time.Time
	UpdatedAt time.Time
	Revision  int64 // counts its changes, from 1
}

// A ScopedRule is a named instruction in plain language for some mail.
type ScopedRule struct {
	ID          string // empty: not stored yet
	Name        string // 1 to 100 characters, which no other rule has
	Description string // for people
	Scope       Scope  // empty: [ScopeGlobal]
	ScopeRef    string // the id of the account, the domain, or the sender's address; empty for ScopeGlobal
	Text        string // 1 to 2000 characters
	Enabled     bool
	Priority    int // as that of a direction
	CreatedAt   time.Time
	UpdatedAt   time.Time
	Revision    int64 // counts its changes, from 1
}

// A Scope says which mail a [ScopedRule] is about.
type Scope string

// The scopes.
const (
	ScopeGlobal  Scope = "global"
	ScopeAccount Scope = "account"
	ScopeDomain  Scope = "domain" // of the sender's address, without those below it
	ScopeSender  Scope = "sender" // the sender's whole address
)

// A GuidanceStore keeps directions and rules. Its reading methods see committed data; its writing methods take the caller's
// transaction. A missing one is [postroom.ErrNotFound]. [NewGuidanceStore] makes one; the zero GuidanceStore is unusable.
type Store struct {
	db  queue.DB
	log Log // nil: none
}

// Config configures a [GuidanceStore]. It is copied and checked once, by [NewGuidanceStore].
type Config struct {
	// DB holds the directions and rules. Required; [Migrate] must have prepared it.
	DB queue.DB
	// Log records which directions and rules are stored; usually a *safety.Ledger, whose AdoptRules records those stored before.
	// A direction or rule that is not recorded is not sent to a model, and while there is one, a person is asked about models'
	// decisions. Default nil: the tables are trusted.
	Log Log
}

// New makes a store; a missing field is an error that names it.
func New(cfg Config) (*Store, error) {
	if err := fields.Required("llm/guidance: Config.DB", cfg.DB, "a database opened with queue/sqlite or queue/postgres"); err != nil {
		return nil, err
	}
	if err := fields.Optional("llm/guidance: Config.Log", cfg.Log); err != nil {
		return nil, err
	}
	return &Store{db: cfg.DB, log: cfg.Log}, nil
}

const (
	maxInstruction = 2000 // characters of a direction, and of the text of a rule
	maxRuleName    = 100
	maxPriority    = 1_000_000
)

func checkPriority(n int) error {
	if n < -maxPriority || n > maxPriority {
		return fmt.Errorf("%w: Priority is %d; it must be within ±%d", ErrInvalid, n, maxPriority)
	}
	return nil
}

// checked is the direction as it is stored.
func (d Direction) checked() (Direction, error) {
	d.Text, d.AccountID = dbvalue.Clean(d.Text), dbvalue.Clean(strings.TrimSpace(d.AccountID))
	return d, errors.Join(bounded("Text", d.Text, maxInstruction), checkPriority(d.Priority))
}

func bounded(field, text string, limit int) error {
	switch n := utf8.RuneCountInString(text); {
	case strings.TrimSpace(cleantext.Visible(text)) == "":
		return fmt.Errorf("%w: %s is blank", ErrInvalid, field)
	case n > limit:
		return fmt.Errorf("%w: %s has %d characters, and %d are allowed", ErrInvalid, field, n, limit)
	}
	return nil
}

// checked is the rule as it is stored.
func (r ScopedRule) checked() (ScopedRule, error) {
	if r.Scope == "" {
		r.Scope = ScopeGlobal
	}
	r.Name, r.ScopeRef = dbvalue.Clean(strings.TrimSpace(r.Name)), dbvalue.Clean(strings.TrimSpace(r.ScopeRef))
	r.Text, r.Description = dbvalue.Clean(r.Text), dbvalue.Clean(r.Description)
	if err := errors.Join(bounded("Name", r.Name, maxRuleName), bounded("Text", r.Text, maxInstruction), checkPriority(r.Priority)); err != nil {
		return r, err
	}
	switch r.Scope {
	case ScopeGlobal:
		if r.ScopeRef != "" {
			return r, fmt.Errorf("%w: ScopeRef is %q, and a global rule refers to nothing; choose another Scope", ErrInvalid, r.ScopeRef)
		}
	case ScopeAccount:
		if r.ScopeRef == "" {
			return r, fmt.Errorf("%w: ScopeRef is empty; give the id of the account", ErrInvalid)
		}
	case ScopeDomain:
		r.ScopeRef = strings.ToLower(r.ScopeRef)
		if r.ScopeRef == "" || strings.ContainsAny(r.ScopeRef, "@ ") {
			return r, fmt.Errorf("%w: ScopeRef is %q; give a domain, such as example.com", ErrInvalid, r.ScopeRef)
		}
	case ScopeSender:
		r.ScopeRef = strings.ToLower(r.ScopeRef)
		if local, domain, ok := strings.Cut(r.ScopeRef, "@"); !ok || local == "" || domain == "" || strings.Contains(r.ScopeRef, " ") {
			return r, fmt.Errorf("%w: ScopeRef is %q; give an address, such as ada@example.com", ErrInvalid, r.ScopeRef)
		}
	default:
		return r, fmt.Errorf("%w: Scope is %q; use global, account, domain or sender", ErrInvalid, string(r.Scope))
	}
	return r, nil
}

func failed(what, name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("llm/guidance: %s %q: %w", what, name, err)
}

func changed(what, id string, n int64, err error) error {
	if err == nil && n == 0 {
		err = postroom.ErrNotFound
	}
	return failed("change "+what, id, err)
}

// Unchecked returns a note for people about a direction that forbids something: either answers of the model are not checked
// against it, since it cannot be parsed, or a person is asked, since it says more than what is forbidden. It is empty for a
// direction that is checked, and for one that forbids nothing.
func (d Direction) Unchecked() string { return decide.Unchecked(d.Text) }

// Unchecked is like [Direction.Unchecked].
func (r ScopedRule) Unchecked() string { return decide.Unchecked(r.Text) }
