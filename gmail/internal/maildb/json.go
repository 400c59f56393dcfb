package maildb

import (
	"encoding/json"
	"fmt"
	"strings"
)

// JSON makes JSON that every database keeps: it holds no NUL character either; see [dbvalue.Clean].
func JSON(v any) (string, error) {
	b, err := json.Marshal(v)
	return cleanEscapes(string(b)), err
}

// cleanEscapes turns the JSON escape of NUL into that of U+FFFD.
func cleanEscapes(s string) string {
	if !strings.Contains(s, `\u0000`) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\\' || i+1 == len(s):
			out.WriteByte(s[i])
		case strings.HasPrefix(s[i:], `\u0000`):
			out.WriteString(`\ufffd`)
			i += len(`\u0000`) - 1
		default: // another escape: copy both bytes, so that an escaped backslash does not begin one
			out.WriteString(s[i : i+2])
			i++
		}
	}
	return out.String()
}

// A JSONText is a JSON column, which a driver gives as text or as bytes.
type JSONText []byte

// Scan implements sql.Scanner.
func (j *JSONText) Scan(src any) error {
	switch v := src.(type) {
	case string:
		*j = JSONText(v)
	case []byte:
		*j = append(JSONText(nil), v...)
	default:
		return fmt.Errorf("gmail: cannot read JSON from %T", src)
	}
	return nil
}
