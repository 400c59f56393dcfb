package webui

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The limits of one shown text: a payload or a stack, and a text in a line.
const (
	MaxText = 64 << 10
	MaxLine = 300
)

// Printable makes text printable: control characters and those that change the direction of writing become visible, and
// the text is cut at the limit, in bytes.
func Printable(s string, limit int) string {
	cut := ""
	if len(s) > limit {
		cut = fmt.Sprintf("… (%s in all)", Size(len(s)))
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

// Size is a number of bytes.
func Size(n int) string {
	switch {
	case n < 1<<10:
		return strconv.Itoa(n) + " bytes"
	case n < 1<<20:
		return strconv.Itoa(n>>10) + " KB"
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
}

// Count groups the digits of n by a narrow space, and marks a count that has reached its bound.
func Count(n, limit int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "\u202f" + digits[i:]
	}
	if limit > 0 && n >= limit {
		return digits + "+"
	}
	return digits
}

// Duration has two or three digits and one unit, or two units.
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "−" + Duration(-d)
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

// Ago is coarse, so that a watched page does not change each second without need.
func Ago(now, at time.Time) string {
	d := now.Sub(at)
	switch {
	case at.IsZero():
		return "–"
	case d < 0:
		return FromNow(now, at)
	case d < 10*time.Second:
		return "just now"
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", int(d.Seconds())/10*10)
	default:
		return coarse(d) + " ago"
	}
}

// FromNow is Ago for a time to come.
func FromNow(now, at time.Time) string {
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

// Instant is a time in full.
func Instant(at time.Time) string {
	if at.IsZero() {
		return "–"
	}
	return at.UTC().Format("2006-01-02 15:04:05.000 UTC")
}

// ISO is a time for programs.
func ISO(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// Clock formats the time of day.
func Clock(at time.Time) string { return at.UTC().Format("15:04:05.000") }
