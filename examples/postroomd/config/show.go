package config

import (
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"
)

// A Value is the value of one setting, for people; secrets are left out.
type Value struct {
	Key   string `json:"key"`
	Value string `json:"value"` // as TOML
	From  string `json:"from"`  // default, config.toml:3, $APP_PORT or --set app.port
}

func (l *loader) value(s *setting, field any, from, indirect string) {
	if indirect != "" {
		from += ", by $" + indirect
	}
	l.out.Values = append(l.out.Values, Value{s.key, asTOML(field), from})
}

// Values returns all settings of a configuration that was not loaded, in the order of the file, for people. What is not
// the default is from there.
func Values(c Config, from string) []Value {
	standard, list := Default(), make([]Value, len(settings))
	for i, s := range settings {
		list[i] = Value{s.key, asTOML(s.field(&c)), "default"}
		if list[i].Value != asTOML(s.field(&standard)) {
			list[i].From = from
		}
	}
	return list
}

// Show writes the settings as TOML, each with its source.
func (l *Loaded) Show(w io.Writer) error {
	var b strings.Builder
	section := ""
	for _, v := range l.Values {
		of, key, _ := strings.Cut(v.Key, ".")
		if of != section {
			if section != "" {
				b.WriteByte('\n')
			}
			section = of
			fmt.Fprintf(&b, "[%s]\n", section)
		}
		fmt.Fprintf(&b, "%s = %s  # %s\n", key, v.Value, v.From)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// asTOML formats a field for the file, without secrets.
func asTOML(field any) string {
	switch f := field.(type) {
	case *string:
		return quote(*f)
	case *Path:
		return quote(string(*f))
	case *Secret:
		return quote(f.String())
	case *Database:
		return quote(f.String())
	case *slog.Level:
		return quote(strings.ToLower(f.String()))
	case *time.Duration:
		return quote(shortDuration(*f))
	case *bool:
		return strconv.FormatBool(*f)
	case *int:
		return strconv.Itoa(*f)
	case *float64:
		text := strconv.FormatFloat(*f, 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return text
	case *[]string:
		return quotedList(*f)
	case *MailboxFiles:
		return quotedList(f.entries())
	}
	panic(fmt.Sprintf("config: a setting of type %T", field))
}

func quotedList(texts []string) string {
	items := make([]string, len(texts))
	for i, s := range texts {
		items[i] = quote(s)
	}
	return "[" + strings.Join(items, ", ") + "]"
}

// quote writes a basic string of TOML.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
