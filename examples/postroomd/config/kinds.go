package config

import (
	"log/slog"
	"net/url"
	"strings"
)

// A Secret is a text that is never printed: not in logs, by fmt or as JSON. Convert it to a string to use it.
type Secret string

// String returns a placeholder for the secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "(secret)"
}

// GoString hides the secret from %#v.
func (s Secret) GoString() string { return `"` + s.String() + `"` }

// LogValue hides the secret from slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText hides the secret from encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// A Path is a file or folder. A leading ~ is the home folder; a relative path in a file starts from the file's folder,
// elsewhere from the current one.
type Path string

// A Database is the path of an SQLite file or the URL of a PostgreSQL database, which may contain a password.
type Database string

// Postgres reports whether it is a PostgreSQL database.
func (d Database) Postgres() bool {
	return strings.HasPrefix(string(d), "postgres://") || strings.HasPrefix(string(d), "postgresql://")
}

// hasPassword reports whether the address holds a password, or cannot be read.
func (d Database) hasPassword() bool {
	if !d.Postgres() {
		return false
	}
	u, err := url.Parse(string(d))
	if err != nil || strings.Contains(strings.ToLower(u.RawQuery), "password") {
		return true
	}
	_, has := u.User.Password()
	return has
}

// String leaves out the password.
func (d Database) String() string {
	if !d.Postgres() {
		return string(d)
	}
	u, err := url.Parse(string(d))
	if err != nil || strings.Contains(strings.ToLower(u.RawQuery), "password") {
		return "(secret)"
	}
	return u.Redacted()
}

// GoString leaves out the password.
func (d Database) GoString() string { return `"` + d.String() + `"` }

// LogValue leaves out the password.
func (d Database) LogValue() slog.Value { return slog.StringValue(d.String()) }

// MarshalText leaves out the password.
func (d Database) MarshalText() ([]byte, error) { return []byte(d.String()), nil }
