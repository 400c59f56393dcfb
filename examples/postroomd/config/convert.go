package config

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A raw value is the value of a key in a layer: a value of TOML, or the text of a variable or flag.
type raw struct {
	value  any
	text   bool   // of the environment or a flag: everything is text there
	folder string // where relative paths start
}

// convert converts a raw value to the field's type. Its error describes a valid value.
func convert(r raw, field any) error {
	text, isText := r.value.(string)
	switch f := field.(type) {
	case *string:
		*f = text
	case *Secret:
		*f = Secret(text)
	case *Path:
		return r.path(text, isText, func(s string) { *f = Path(s) })
	case *Database:
		if Database(text).Postgres() || strings.Contains(text, "://") {
			*f = Database(text)
			return nil
		}
		return r.path(text, isText, func(s string) { *f = Database(s) })
	case *slog.Level:
		if !isText || f.UnmarshalText([]byte(text)) != nil {
			return wanted(`"debug", "info", "warn" or "error"`)
		}
	case *time.Duration:
		return setDuration(f, text, isText)
	case *bool:
		return set(r, f, strconv.ParseBool, "true or false")
	case *int:
		return setInt(r, f)
	case *float64:
		if n, ok := r.value.(int64); ok {
			r.value = float64(n)
		}
		return set(r, f, func(s string) (float64, error) { return strconv.ParseFloat(s, 64) }, "a number")
	case *[]string:
		return setList(r, f)
	case *MailboxFiles:
		return setMailboxFiles(r, f)
	default:
		panic(fmt.Sprintf("config: a setting of type %T", field))
	}
	if !isText {
		return wanted("a text")
	}
	return nil
}

type wanted string

func (w wanted) Error() string { return string(w) }

// set assigns a value of the field's own type, or parses it if the layer has only text.
func set[T any](r raw, field *T, parse func(string) (T, error), want wanted) error {
	if v, ok := r.value.(T); ok {
		*field = v
		return nil
	}
	if text, ok := r.value.(string); ok && r.text {
		if v, err := parse(text); err == nil {
			*field = v
			return nil
		}
	}
	return want
}

func setInt(r raw, field *int) error {
	var n int64
	err := set(r, &n, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }, "a whole number")
	if err == nil && int64(int(n)) != n {
		return wanted("a smaller number")
	}
	*field = int(n)
	return err
}

func setDuration(field *time.Duration, text string, isText bool) error {
	d, err := time.ParseDuration(text)
	if !isText || err != nil {
		return wanted("a duration with its unit")
	}
	*field = d
	return nil
}

func setList(r raw, field *[]string) error {
	list := []string{}
	switch v := r.value.(type) {
	case string:
		if !r.text {
			return wanted("a list of texts")
		}
		for item := range strings.SplitSeq(v, ",") {
			if item = strings.TrimSpace(item); item != "" {
				list = append(list, item)
			}
		}
	case []any:
		for _, item := range v {
			text, ok := item.(string)
			if !ok {
				return wanted("a list of texts")
			}
			list = append(list, text)
		}
	default:
		return wanted("a list of texts")
	}
	*field = list
	return nil
}

func (r raw) path(text string, isText bool, set func(string)) error {
	if !isText {
		return wanted("a path")
	}
	full, err := expand(text, r.folder)
	if err != nil {
		return err
	}
	set(full)
	return nil
}

// expand makes a path absolute; the empty path stays empty.
func expand(path, folder string) (string, error) {
	if path == "" {
		return "", nil
	}
	if rest, ok := strings.CutPrefix(path, "~"); ok {
		if rest != "" && rest[0] != '/' && rest[0] != filepath.Separator {
			return "", wanted("~/ for your own home folder, or the whole path: the folders of other users are not looked up")
		}
		home, err := os.UserHomeDir()
		if err != nil {
			return "", wanted(fmt.Sprintf("the whole path: the home folder is not known (%v)", err))
		}
		return filepath.Join(home, rest), nil
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	return filepath.Abs(filepath.Join(folder, path))
}

// shortDuration writes a duration without the zeros that String adds.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
