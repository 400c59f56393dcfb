package backtest

import (
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom/rules/internal/yamlscalar"
)

// String formats the backtest for people: what each rule and each action would have done, and what would change.
// Texts of messages are as their senders wrote them, on one line and without invisible characters.
func (b *Report) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s%s, %d matched (%s), %d would wait for a person", messages(b.Messages), b.span(), b.Matched,
		percent(b.Matched, b.Messages), b.Dangerous)
	if b.Unreadable > 0 {
		fmt.Fprintf(&out, ", %d more could not be read", b.Unreadable)
	}
	out.WriteString("\n\nRules\n")
	for _, r := range b.Rules {
		fmt.Fprintf(&out, "%8d  %s  (%s)\n", r.Matched, oneVisibleLine(r.Name), oneVisibleLine(strings.Join(r.Actions, ", ")))
		writeSamples(&out, r.Samples)
	}
	for _, broken := range b.Broken {
		fmt.Fprintf(&out, "  cannot be used  %s: %s\n", oneVisibleLine(broken.Name), oneVisibleLine(broken.Error))
	}
	out.WriteString("\nActions\n")
	for _, a := range b.Actions {
		fmt.Fprintf(&out, "%8d  %s", a.Count, oneVisibleLine(a.Action))
		if b.Compared {
			fmt.Fprintf(&out, "  (now %d)", a.Before)
		}
		out.WriteByte('\n')
	}
	if b.Compared {
		fmt.Fprintf(&out, "\nWhat would change: %s\n", messages(b.Changed))
		for _, c := range b.Changes {
			fmt.Fprintf(&out, "%8d  %s -> %s\n", c.Count, actionsText(c.Before), actionsText(c.After))
			writeSamples(&out, c.Samples)
		}
	}
	return out.String()
}

func writeSamples(out *strings.Builder, samples []Sample) {
	for _, s := range samples {
		fmt.Fprintf(out, "            %s  %s  %s\n", dayOf(s.Received), oneVisibleLine(s.From), oneVisibleLine(s.Subject))
	}
}

// messages is a number of messages, for people.
func messages(n int) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}

func (b *Report) span() string {
	if b.First.IsZero() {
		return ""
	}
	return fmt.Sprintf(" of %s to %s", dayOf(b.First), dayOf(b.Last))
}

func dayOf(t time.Time) string {
	if t.IsZero() {
		return "no date   "
	}
	return t.UTC().Format(time.DateOnly)
}

func actionsText(actions []string) string {
	if len(actions) == 0 {
		return "nothing"
	}
	return oneVisibleLine(strings.Join(actions, " and "))
}

func percent(part, whole int) string {
	if whole == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(whole))
}

// oneVisibleLine prevents text of strangers from hiding in a report, or from breaking its lines.
func oneVisibleLine(text string) string {
	return strings.Map(func(r rune) rune {
		if yamlscalar.MustEscape(r) {
			return ' '
		}
		return r
	}, text)
}
