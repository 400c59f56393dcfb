package queueui

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/postroom-go/postroom/internal/webui"
)

// pretty formats JSON with a line for each value, or returns it unchanged if that would be too much.
func pretty(raw json.RawMessage) string {
	if len(raw) > webui.MaxText || depth(raw) > 50 {
		return webui.Printable(string(raw), webui.MaxText)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return webui.Printable(string(raw), webui.MaxText)
	}
	return webui.Printable(unescape(b.String()), 4*webui.MaxText)
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
	case "waiting":
		return "◔"
	case "interrupted":
		return "‖"
	default:
		return "·"
	}
}

// fromNow is [webui.FromNow], also of a job that waits for a signal without a bound.
func fromNow(now, at time.Time) string {
	if at.Year() == 9999 {
		return "when a signal comes"
	}
	return webui.FromNow(now, at)
}
