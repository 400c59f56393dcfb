package notify

import (
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
)

// A Digest is what was done in a time, in one mailbox or all of them.
type Digest struct {
	From, Until time.Time // in the zone of the reader
	Mailboxes   []string  // addresses

	Came     int     // messages, sent ones included
	Moved    []Count // by rule or model, and what was done
	Answers  []Count // of people to requests
	Undone   int
	Asks     []string // what waits for a person
	Ready    int      // drafts of answers that lie ready
	Begun    []string // rules that only label at first
	Senders  []string // whose first message came
	Failures []string
	Spent    string // what the models cost; empty: nothing
	News     int    // of Asks, Ready, Begun and Failures, those that were not there before
}

// A Count is how often something was done.
type Count struct {
	What string
	N    int
}

// maxLines bounds a digest, maxListed each of its lists, maxSenders that of new senders, where there is room for it,
// and maxBegun that of rules that have just begun.
const (
	maxLines   = 50
	maxListed  = 7
	maxSenders = 30
	maxBegun   = 3
)

// IsEmpty reports whether there is nothing new to tell.
func (d *Digest) IsEmpty() bool {
	return d.Came == 0 && len(d.Moved) == 0 && len(d.Answers) == 0 && d.Undone == 0 && d.News == 0
}

// Title is one line.
func (d *Digest) Title() string {
	moved := 0
	for _, c := range d.Moved {
		moved += c.N
	}
	parts := []string{printer.Count(d.Came, "message came", "messages came"), fmt.Sprintf("%d done", moved)}
	if n := len(d.Asks); n > 0 {
		parts = append(parts, printer.Count(n, "waits for you", "wait for you"))
	}
	if n := len(d.Failures); n > 0 {
		parts = append(parts, printer.Count(n, "failure", "failures"))
	}
	return "Postroom: " + strings.Join(parts, ", ")
}

// Text is the digest as plain text of at most 50 lines.
func (d *Digest) Text() string {
	const clock = "Mon 2 Jan 2006 15:04"
	lines := []string{d.From.Format(clock) + " to " + d.Until.Format(clock+" MST")}
	if len(d.Mailboxes) > 0 {
		boxes := d.Mailboxes
		if len(boxes) > 3 {
			boxes = append(boxes[:3:3], fmt.Sprintf("%d more", len(boxes)-3))
		}
		lines = append(lines, strings.Join(boxes, ", "))
	}
	came := printer.Count(d.Came, "message came.", "messages came.")
	if d.Ready > 0 {
		came += " " + printer.Count(d.Ready, "draft of an answer lies", "drafts of answers lie") +
			" ready: 'postroomd drafts list', or the page."
	}
	lines = append(lines, came)
	done := counts(d.Moved)
	done = append(done[:min(len(done), maxListed)], more(len(done))...)
	done = append(done, counts(d.Answers)...)
	if d.Undone > 0 {
		done = append(done, fmt.Sprintf("%5d  taken back", d.Undone))
	}
	lines = append(lines, section("Done", done, maxListed+4)...)
	lines = append(lines, section("Waiting for you: 'postroomd approvals list', or the page", d.Asks, maxListed)...)
	lines = append(lines, section("Rules that begin with their labels", d.Begun, maxBegun)...)
	last := section("Failures", d.Failures, maxListed)
	if d.Spent != "" {
		last = append(last, "", "Models: "+d.Spent)
	}
	// Each new sender is a question, for which there is what the others leave: an empty line, the title and the rest.
	room := maxLines - len(lines) - len(last) - 3
	lines = append(lines, section("Senders seen first", d.Senders, min(max(room, maxListed), maxSenders))...)
	lines = append(lines, last...)
	return strings.Join(lines[:min(len(lines), maxLines)], "\n") + "\n"
}

func counts(list []Count) []string {
	lines := make([]string, len(list))
	for i, c := range list {
		lines[i] = fmt.Sprintf("%5d  %s", c.N, c.What)
	}
	return lines
}

// more says how many of n lines are left out.
func more(n int) []string {
	if n <= maxListed {
		return nil
	}
	return []string{fmt.Sprintf("  and %d more", n-maxListed)}
}

// section is a list with a heading; nothing without lines.
func section(title string, list []string, most int) []string {
	if len(list) == 0 {
		return nil
	}
	lines := []string{"", title}
	for _, line := range list[:min(len(list), most)] {
		lines = append(lines, "  "+strings.TrimPrefix(line, "  "))
	}
	if len(list) > most {
		lines = append(lines, fmt.Sprintf("  and %d more", len(list)-most))
	}
	return lines
}
