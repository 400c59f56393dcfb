package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
)

// A Past is what other mail of an account tells about a message.
type Past struct {
	WrittenTo bool // the owner of the account had written to the sender before the message came
	// Mine and Theirs are when the owner and others have last written in the thread of the message, by the time of the
	// decision; zero: never. The message itself is one of theirs.
	Mine, Theirs time.Time
}

// History knows the other mail of accounts, for [Past]. Package gmail/senders implements it.
type History interface {
	// WrittenTo reports whether the owner of the account had written to the sender of msg before msg.
	WrittenTo(ctx context.Context, msg *postroom.Message) (bool, error)
	// Thread returns when the owner and others have last written in the thread of msg, until an instant.
	Thread(ctx context.Context, msg *postroom.Message, until time.Time) (mine, theirs time.Time, err error)
}

// A need is what a predicate must know besides the message. Needs are added up by their bits.
type need uint8

const (
	needsSenders need = 1 << iota // who has written before
	needsWritten                  // to whom the owner has written
	needsThread                   // the times of the thread
	needsTopic                    // parts of the meaning
	needsPriority
	needsEvents

	needsHistory = needsWritten | needsThread
	needsMeaning = needsTopic | needsPriority | needsEvents
)

// needs returns what the predicates of a condition need.
func (n *node) needs(k *code) (all need) {
	n.any(k, func(l *predicate) bool {
		all |= l.needs
		return false
	})
	return all
}

// ErrNoHistory reports that a rule asks what was written before, and nothing is configured that knows.
var ErrNoHistory = errors.New("the conditions i_answered, they_answered, sender_written_to, thread_quiet and " +
	"since_i_wrote need a record of other mail, and none is configured")

// A Meaning is what is known of what a message means, which is found out after it has come. A rule with a condition
// about a part that is not known does not match, also where the condition stands in a "not".
type Meaning struct {
	Topic    string // the category, of the owner's; empty while it is not known
	Priority string // the level of importance, of the owner's; empty while it is not known
	// HasActionItems reports whether the message asks its reader to do something; it is known with Priority.
	HasActionItems bool
	// HasEvent reports whether it names an appointment, if EventsKnown.
	HasEvent, EventsKnown bool
}

// Meanings knows what messages mean; package llm/enrich finds it out.
type Meanings interface {
	// Meaning returns what is known of a message now; the zero Meaning if nothing is.
	Meaning(ctx context.Context, msg *postroom.Message) (Meaning, error)
}

// ErrNoMeanings reports that a rule asks what a message means, and nothing is configured that knows.
var ErrNoMeanings = errors.New("the conditions topic, priority, has_action_items and has_event need what is found out " +
	"about the meaning of mail, and nothing is configured that does")

// ErrMeaning is why a message is not decided about: what it means cannot be read now.
var ErrMeaning = errors.New("ask what the message means")

// unknown returns what of the needs is not known of a message.
func (m *Meaning) unknown(needs need) need {
	if m.Topic != "" {
		needs &^= needsTopic
	}
	if m.Priority != "" {
		needs &^= needsPriority
	}
	if m.EventsKnown {
		needs &^= needsEvents
	}
	return needs & needsMeaning
}

func compileTopic(_ *code, c *Condition) (predicate, *ConditionError) {
	return meaningPredicate(c, needsTopic, func(m *Meaning) string { return m.Topic })
}

func compilePriority(_ *code, c *Condition) (predicate, *ConditionError) {
	return meaningPredicate(c, needsPriority, func(m *Meaning) string { return m.Priority })
}

// meaningPredicate compares a name of the owner's with the values, without regard to case.
func meaningPredicate(c *Condition, needs need, name func(*Meaning) string) (predicate, *ConditionError) {
	values := c.Alternatives()
	return predicate{needs: needs, test: func(v *view) bool {
		return slices.ContainsFunc(values, func(value string) bool {
			return strings.EqualFold(strings.TrimSpace(value), name(&v.facts.Meaning))
		})
	}, explain: func(v *view) string { return fmt.Sprintf("it is %q", name(&v.facts.Meaning)) }}, nil
}

func compileHasActionItems(*code, *Condition) (predicate, *ConditionError) {
	return predicate{needs: needsPriority, test: func(v *view) bool { return v.facts.Meaning.HasActionItems }}, nil
}

func compileHasEvent(*code, *Condition) (predicate, *ConditionError) {
	return predicate{needs: needsEvents, test: func(v *view) bool { return v.facts.Meaning.HasEvent }}, nil
}

// ErrHistory is why a message is not decided about: [History] does not know now what was written before.
var ErrHistory = errors.New("ask what was written before")

// PastOf asks for what the rules of the set need to know about a message at an instant, and for nothing else.
func (s *Set) PastOf(ctx context.Context, h History, msg *postroom.Message, at time.Time) (past Past, err error) {
	if s.needs&needsWritten != 0 {
		if past.WrittenTo, err = h.WrittenTo(ctx, msg); err != nil {
			return Past{}, fmt.Errorf("%w: %w", ErrHistory, err)
		}
	}
	if s.needs&needsThread != 0 {
		if past.Mine, past.Theirs, err = h.Thread(ctx, msg, at); err != nil {
			return Past{}, fmt.Errorf("%w: %w", ErrHistory, err)
		}
	}
	return past, nil
}

// An answer by whoever Gmail adds to the thread counts as theirs, so a rule that acts on it goes by the sender.
func compileTheyAnswered(*code, *Condition) (predicate, *ConditionError) {
	return predicate{needs: needsThread, sender: true, test: func(v *view) bool {
		p := &v.facts.Past
		return !p.Mine.IsZero() && p.Theirs.After(p.Mine)
	}, explain: (*view).thread}, nil
}

func compileIAnswered(*code, *Condition) (predicate, *ConditionError) {
	return predicate{needs: needsThread, test: func(v *view) bool {
		return v.facts.Past.Mine.After(v.msg.ReceivedAt)
	}, explain: (*view).thread}, nil
}

func compileSenderWrittenTo(*code, *Condition) (predicate, *ConditionError) {
	return predicate{needs: needsWritten, sender: true,
		test: func(v *view) bool { return v.facts.Past.WrittenTo }}, nil
}

func compileThreadQuiet(_ *code, c *Condition) (predicate, *ConditionError) {
	return sincePredicate(c, func(p *Past) time.Time {
		if p.Mine.After(p.Theirs) {
			return p.Mine
		}
		return p.Theirs
	})
}

func compileSinceIWrote(_ *code, c *Condition) (predicate, *ConditionError) {
	return sincePredicate(c, func(p *Past) time.Time { return p.Mine })
}

// sincePredicate tests whether something is longer ago than the value. What has never been is not.
func sincePredicate(c *Condition, last func(*Past) time.Time) (predicate, *ConditionError) {
	limit, err := parseAge(c.Value)
	if err != nil {
		return predicate{}, badValue("value", err.Error(), ageHint)
	}
	return predicate{needs: needsThread, test: func(v *view) bool {
		at := last(&v.facts.Past)
		return !at.IsZero() && v.now.Sub(at) > limit
	}, explain: (*view).thread}, nil
}

// thread says who has last written when.
func (v *view) thread() string {
	ago := func(at time.Time) string {
		if at.IsZero() {
			return "never"
		}
		return v.now.Sub(at).Round(time.Minute).String() + " ago"
	}
	return "in the thread, you last wrote " + ago(v.facts.Past.Mine) + ", another " + ago(v.facts.Past.Theirs)
}
