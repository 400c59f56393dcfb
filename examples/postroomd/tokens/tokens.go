// Package tokens keeps the tokens of programs that call postroomd: each has a name, a scope and mailboxes, and can be
// revoked. The database has only the hash of a secret, which is shown once.
package tokens

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/migrate"
	"github.com/postroom-go/postroom/queue"
)

//go:embed migrations
var migrations embed.FS

// Migrate creates the table of the tokens, or brings it up to date.
func Migrate(ctx context.Context, db queue.DB) error {
	return migrate.Up(ctx, db, string(db.Dialect()), "postroomd_tokens", migrations)
}

// A Scope is what a token permits.
type Scope string

// The scopes. Each includes those before it.
const (
	See     Scope = "see"     // read
	Propose Scope = "propose" // propose actions as an assistant
	Approve Scope = "approve" // answer requests, undo, stop and resume
	Own     Scope = "own"     // change what decides, and start work
)

// Scopes returns the scopes, the least first.
func Scopes() []Scope { return []Scope{See, Propose, Approve, Own} }

// Includes reports whether a token of the scope permits what the other is needed for.
func (s Scope) Includes(other Scope) bool {
	at := slices.Index(Scopes(), other)
	return at >= 0 && slices.Index(Scopes(), s) >= at
}

// A Token is a token without its secret.
type Token struct {
	Name      string
	Scope     Scope
	Mailboxes []string // addresses; nil: all, those to come included
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never, of a token that was made before all had to end
	RevokedAt time.Time // zero: it is not
}

// Valid reports whether the token still permits anything.
func (t *Token) Valid(now time.Time) bool {
	return t.RevokedAt.IsZero() && (t.ExpiresAt.IsZero() || now.Before(t.ExpiresAt))
}

// ErrUnknown reports that no token has the secret, or that it is revoked or has expired.
var ErrUnknown = errors.New("no token that is valid has this secret")

// A Store keeps tokens in a database that [Migrate] has prepared. It is safe for concurrent use.
type Store struct{ db queue.DB }

// New returns the store of a database.
func New(db queue.DB) *Store { return &Store{db} }

// MostDays is the longest that a new token is valid.
const MostDays = 90

var names = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,39}$`)

// Add stores a new token, and returns its secret, which nobody can read again. A token without ExpiresAt ends after
// [MostDays], and none ends later.
func (s *Store) Add(ctx context.Context, t Token) (secret string, err error) {
	last := time.Now().Add(MostDays * 24 * time.Hour)
	if t.ExpiresAt.IsZero() {
		t.ExpiresAt = last
	}
	switch {
	case !names.MatchString(t.Name):
		return "", usage.Errorf("%q is no name of a token: it has 1 to 40 small letters, digits, dots and hyphens", t.Name)
	case !slices.Contains(Scopes(), t.Scope):
		return "", usage.Errorf("scope is %q; it must be one of %q", t.Scope, Scopes())
	case t.ExpiresAt.After(last):
		return "", usage.Errorf("a token ends after at most %d days", MostDays)
	}
	boxes, err := json.Marshal(t.Mailboxes)
	if err != nil {
		return "", err
	}
	secret = "postroom_" + rand.Text() + rand.Text()
	return secret, s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		var there int
		if err := dbquery.Get(ctx, tx, &there, sqlCount, t.Name); err != nil {
			return err
		}
		if there > 0 {
			return usage.Errorf("there is a token %s, or was: what it did is on record by its name", t.Name)
		}
		_, err := dbquery.Exec(ctx, tx, sqlAdd, t.Name, hash(secret), string(t.Scope), string(boxes),
			dbtime.Of(queue.Now(tx)), dbtime.Of(t.ExpiresAt))
		return err
	})
}

// List lists the tokens by name, those that are revoked included.
func (s *Store) List(ctx context.Context) ([]Token, error) {
	var rows []row
	if err := dbquery.Select(ctx, s.db.Reader(), &rows, sqlList); err != nil {
		return nil, err
	}
	list := make([]Token, len(rows))
	for i := range rows {
		var err error
		if list[i], err = rows[i].token(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Revoke ends a token at once.
func (s *Store) Revoke(ctx context.Context, name string) error {
	return s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		n, err := dbquery.Exec(ctx, tx, sqlRevoke, dbtime.Of(queue.Now(tx)), name)
		if err == nil && n == 0 {
			err = usage.Errorf("there is no token %s that is not revoked; 'postroomd tokens list' lists them", name)
		}
		return err
	})
}

// Find returns the token of a secret, or [ErrUnknown].
func (s *Store) Find(ctx context.Context, secret string) (t Token, err error) {
	var r row
	err = dbquery.Get(ctx, s.db.Reader(), &r, sqlFind, hash(secret))
	if errors.Is(err, sql.ErrNoRows) {
		return t, ErrUnknown
	}
	if err != nil {
		return t, err
	}
	if t, err = r.token(); err == nil && !t.Valid(time.Now()) {
		return Token{}, ErrUnknown
	}
	return t, err
}

// hash is enough for a secret that is random: nobody can try all.
func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

type row struct {
	Name      string      `db:"name"`
	Scope     string      `db:"scope"`
	Mailboxes string      `db:"mailboxes"`
	CreatedAt dbtime.Time `db:"created_at"`
	ExpiresAt dbtime.Time `db:"expires_at"`
	RevokedAt dbtime.Time `db:"revoked_at"`
}

func (r *row) token() (Token, error) {
	t := Token{Name: r.Name, Scope: Scope(r.Scope), CreatedAt: r.CreatedAt.Time, ExpiresAt: r.ExpiresAt.Time,
		RevokedAt: r.RevokedAt.Time}
	return t, json.Unmarshal([]byte(r.Mailboxes), &t.Mailboxes)
}

const (
	sqlCount = `
SELECT COUNT(*)
FROM api_tokens
WHERE name = $1`

	sqlAdd = `
INSERT INTO api_tokens (name, secret_sha256, scope, mailboxes, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6)`

	sqlList = `
SELECT name, scope, mailboxes, created_at, expires_at, revoked_at
FROM api_tokens
ORDER BY name`

	sqlFind = `
SELECT name, scope, mailboxes, created_at, expires_at, revoked_at
FROM api_tokens
WHERE secret_sha256 = $1`

	sqlRevoke = `
UPDATE api_tokens
SET revoked_at = $1
WHERE name = $2 AND revoked_at IS NULL`
)
