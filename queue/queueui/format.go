package queueui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The limits of one shown text: a payload or a stack, and a text in a line.
const (
	maxText = 64 << 10
	maxLine = 300
)

// printable makes text printable: control characters and those that change the direction of writing become visible, and
// the text is cut at the limit, in bytes.
func printable(s string, limit int) string {
	cut := ""
	if len(s) > limit {
		cut = fmt.Sprintf("… (%s in all)", size(len(s)))
		s = s[:limit]
		for !utf8.ValidString(s) && len(s) > limit-utf8.UTFMax {
			s = s[:len(s)-1]
		}
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20:
			return '␀' + r
		case r == 0x7f:
			return '␡'
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == utf8.RuneError:
			return '�'
		}
		return r
	}, s) + cut
}

// pretty formats JSON with a line for each value, or returns it unchanged if that would be too much.
func pretty(raw json.RawMessage) string {
	if len(raw) > maxText || depth(raw) > 50 {
		return printable(string(raw), maxText)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return printable(string(raw), maxText)
	}
	return printable(unescape(b.String()), 4*maxText)
}

// unescape reverses the HTML escapes of encoding/json, which make mail hard to read. Templates escape again.
func unescape(text string) string {
	return escapes.ReplaceAllStringFunc(text, func(escape string) string {
		switch strings.ToLower(escape) {
		case `\u003c`:
			return "<"
		case `\u003e`:
			return ">"
		case `\u0026`:
			return "&"
		}
		return escape
	})
}

// escapes matches the escapes of JSON. An escaped backslash is matched as a whole, so that the text after it is not
// mistaken for another escape.
var escapes = regexp.MustCompile(`\\(?:u[0-9a-fA-F]{4}|.)`)

// depth bounds how deep JSON is nested; brackets within strings count too.
func depth(raw []byte) (deepest int) {
	now := 0
	for _, c := range raw {
		switch c {
		case '{', '[':
			now++
			deepest = max(deepest, now)
		case '}', ']':
			now--
		}
	}
	return deepest
}

func size(n int) string {
	switch {
	case n < 1<<10:
		return strconv.Itoa(n) + " bytes"
	case n < 1<<20:
		return strconv.Itoa(n>>10) + " KB"
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
}

// count groups the digits of n by a narrow space, and marks a count that has reached its bound.
func count(n, limit int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "\u202f" + digits[i:]
	}
	if limit > 0 && n >= limit {
		return digits + "+"
	}
	return digits
}

// duration has two or three digits and one unit, or two units.
func duration(d time.Duration) string {
	switch {
	case d < 0:
		return "−" + duration(-d)
	case d == 0:
		return "0 s"
	case d < time.Millisecond:
		return "<1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second && d%time.Second != 0:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%d days", int(d.Hours())/24)
	}
}

// ago is coarse, so that a watched page does not change each second without need.
func ago(now, at time.Time) string {
	d := now.Sub(at)
	switch {
	case at.IsZero():
		return "–"
	case d < 0:
		return fromNow(now, at)
	case d < 10*time.Second:
		return "just now"
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", int(d.Seconds())/10*10)
	default:
		return coarse(d) + " ago"
	}
}

func fromNow(now, at time.Time) string {
	d := at.Sub(now)
	switch {
	case at.IsZero():
		return "–"
	case d <= 0:
		return "now"
	case d < time.Minute:
		return "in less than a minute"
	default:
		return "in " + coarse(d)
	}
}

func coarse(d time.Duration) string {
	switch {
	case d < 90*time.Minute:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
	case d < 36*time.Hour:
		return fmt.Sprintf("%d h", int(d.Round(time.Hour).Hours()))
	default:
		return fmt.Sprintf("%d days", int(math.Round(d.Hours()/24)))
	}
}

// instant is a time in full.
func instant(at time.Time) string {
	if at.IsZero() {
		return "–"
	}
	return at.UTC().Format("2006-01-02 15:04:05.000 UTC")
}

// iso is a time for programs.
func iso(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// clock formats the time of day.
func clock(at time.Time) string { return at.UTC().Format("15:04:05.000") }

// mark is the symbol of a state or of an attempt's end, so that they differ in more than their color.
func mark(state string) string {
	switch state {
	case "completed":
		return "✓"
	case "failed":
		return "✕"
	case "running":
		return "▶"
	case "queued":
		return "●"
	case "canceled":
		return "⊘"
	case "moving":
		return "⇄"
	case "crashed":
		return "↯"
	case "interrupted":
		return "‖"
	default:
		return "·"
	}
}
