package guidance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/llm/internal/cleantext"
)

// ErrInvalid reports an instruction that cannot be stored, with the field.
var ErrInvalid = errors.New("invalid instruction")

// DefaultPriority is the default priority of an instruction.
const DefaultPriority = 100

// An Instruction says in plain language what a model is to do with some mail, and what it must not do.
type Instruction struct {
	ID   string // empty: not stored yet
	Name string // for people and the model; at most 100 characters, empty for none
	// Scope and ScopeRef say which mail the instruction is about.
	Scope    Scope  // empty: [ScopeAll]
	ScopeRef string // the id of the account, the domain, or the sender's address; empty for ScopeAll
	// Text is advice to the model; at most 2000 characters. It may be empty if the instruction forbids something.
	Text string
	// Forbids are the kinds of actions that no model's decision takes with this mail.
	Forbids []postroom.ActionType
	// Unauthenticated says that the text of an instruction about a domain or a sender is also about mail that only claims
	// to be of them. What the instruction forbids is forbidden for such mail in any case.
	Unauthenticated bool

	Enabled   bool
	Priority  int // orders instructions, low first, within ±1,000,000; then the older goes first
	CreatedAt time.Time
	UpdatedAt time.Time
	Revision  int64 // counts its changes, from 1
}

// A Scope says which mail an [Instruction] is about.
type Scope string

// The scopes.
const (
	ScopeAll     Scope = "all"
	ScopeMailbox Scope = "mailbox" // of one account
	ScopeDomain  Scope = "domain"  // of the sender's address, without those below it
	ScopeSender  Scope = "sender"  // the sender's whole address
)

// OfSender reports whether the scope is the mail of some senders, not that of a mailbox or all.
func (s Scope) OfSender() bool { return s == ScopeDomain || s == ScopeSender }

// About describes the mail that the instruction is about, for people; a mailbox is named by the id of its account.
func (i *Instruction) About() string {
	switch i.Scope {
	case ScopeMailbox:
		return "mail to " + i.ScopeRef
	case ScopeDomain, ScopeSender:
		return "mail of " + i.ScopeRef
	default:
		return "all mail"
	}
}

const (
	maxText     = 2000 // characters
	maxName     = 100
	maxPriority = 1_000_000
)

// checked returns the instruction as it is stored.
func (i Instruction) checked(kinds *postroom.Kinds) (Instruction, error) {
	if i.Scope == "" {
		i.Scope = ScopeAll
	}
	i.Name, i.ScopeRef = dbvalue.Clean(strings.TrimSpace(i.Name)), dbvalue.Clean(strings.TrimSpace(i.ScopeRef))
	i.Text = dbvalue.Clean(i.Text)
	if i.Scope.OfSender() {
		i.ScopeRef = strings.ToLower(i.ScopeRef)
	}
	i.Forbids = slices.Compact(slices.Sorted(slices.Values(i.Forbids)))
	return i, errors.Join(i.checkTexts(), i.checkScope(), i.checkForbids(kinds))
}

func (i *Instruction) checkTexts() error {
	if strings.TrimSpace(cleantext.Visible(i.Text)) == "" && len(i.Forbids) == 0 {
		return fmt.Errorf("%w: Text is blank, and nothing is forbidden", ErrInvalid)
	}
	for _, field := range []struct {
		name, text string
		limit      int
	}{{"Name", i.Name, maxName}, {"Text", i.Text, maxText}} {
		if n := utf8.RuneCountInString(field.text); n > field.limit {
			return fmt.Errorf("%w: %s has %d characters, and %d are allowed", ErrInvalid, field.name, n, field.limit)
		}
	}
	if i.Priority < -maxPriority || i.Priority > maxPriority {
		return fmt.Errorf("%w: Priority is %d; it must be within ±%d", ErrInvalid, i.Priority, maxPriority)
	}
	return nil
}

func (i *Instruction) checkScope() error {
	switch i.Scope {
	case ScopeAll:
		if i.ScopeRef != "" {
			return fmt.Errorf("%w: ScopeRef is %q, and an instruction about all mail refers to nothing; choose another Scope",
				ErrInvalid, i.ScopeRef)
		}
	case ScopeMailbox:
		if i.ScopeRef == "" {
			return fmt.Errorf("%w: ScopeRef is empty; give the id of the account", ErrInvalid)
		}
	case ScopeDomain:
		if i.ScopeRef == "" || strings.ContainsAny(i.ScopeRef, "@ ") {
			return fmt.Errorf("%w: ScopeRef is %q; give a domain, such as example.com", ErrInvalid, i.ScopeRef)
		}
	case ScopeSender:
		if local, domain, ok := strings.Cut(i.ScopeRef, "@"); !ok || local == "" || domain == "" ||
			strings.Contains(i.ScopeRef, " ") {
			return fmt.Errorf("%w: ScopeRef is %q; give an address, such as ada@example.com", ErrInvalid, i.ScopeRef)
		}
	default:
		return fmt.Errorf("%w: Scope is %q; use all, mailbox, domain or sender", ErrInvalid, string(i.Scope))
	}
	return nil
}

func (i *Instruction) checkForbids(kinds *postroom.Kinds) error {
	for _, kind := range i.Forbids {
		if kind == postroom.None {
			return fmt.Errorf("%w: Forbids: none does nothing, and cannot be forbidden", ErrInvalid)
		}
		if _, err := kinds.Find(kind); err != nil {
			return fmt.Errorf("%w: Forbids: %w", ErrInvalid, err)
		}
	}
	return nil
}
