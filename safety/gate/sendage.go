package gate

import (
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
)

const (
	defaultSendAge = 3 * 24 * time.Hour
	// giveUpAge is how old a message is that nothing is sent about without a person's own word, whatever the SendAge.
	giveUpAge = 30 * 24 * time.Hour
)

// hasNoSendAge reports whether a decision may send whatever the age of its message: it sends nothing, or a person has
// applied a rule to mail that was there.
func (g *Gate) hasNoSendAge(msg *postroom.Message, d postroom.Decision) bool {
	return msg == nil || g.policy.SendAge < 0 || !g.kinds.Sends(d.Action) ||
		strings.HasPrefix(d.Key, postroom.BatchKeyPrefix)
}

// AgeDoubts asks about a message that is sent about one that came long ago.
func (g *Gate) AgeDoubts(msg *postroom.Message, d postroom.Decision, now time.Time) []Doubt {
	if g.hasNoSendAge(msg, d) {
		return nil
	}
	if msg.ReceivedAt.IsZero() {
		return []Doubt{{OverrideAge, "it is not known when the message came"}}
	}
	if age := now.Sub(msg.ReceivedAt); age > g.policy.SendAge {
		return []Doubt{{OverrideAge, "the message came " + days(age) + " ago"}}
	}
	return nil
}

// TooOld returns why nothing is sent about the message of the decision; empty if it is not too old.
func (g *Gate) TooOld(msg *postroom.Message, d postroom.Decision, now time.Time) string {
	if g.hasNoSendAge(msg, d) || msg.ReceivedAt.IsZero() {
		return ""
	}
	age, most := now.Sub(msg.ReceivedAt), max(giveUpAge, g.policy.SendAge)
	if age <= most {
		return ""
	}
	return fmt.Sprintf("the message came %s ago, and about one that is older than %s nothing is sent unless a person "+
		"applies the rule to it", days(age), days(most))
}

// days formats an age in days, or in hours below two days.
func days(d time.Duration) string {
	if d < 48*time.Hour {
		return fmt.Sprintf("%d hours", d/time.Hour)
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}
