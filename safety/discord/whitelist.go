package discord

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

const (
	selectPeople = `
SELECT user_id, name, signature
FROM discord_whitelist
ORDER BY user_id`

	deletePeople = `
DELETE FROM discord_whitelist`

	// If two programs start at once and set the same list, neither fails.
	insertPerson = `
INSERT INTO discord_whitelist (user_id, name, added_at, signature)
VALUES ($1, $2, $3, $4)
ON CONFLICT (user_id) DO UPDATE
SET name = excluded.name,
  added_at = excluded.added_at,
  signature = excluded.signature`
)

// A Person may answer by pressing buttons.
type Person struct {
	// UserID is the id of the account at Discord, which is a number. Names there can change; ids cannot.
	UserID string `db:"user_id"`
	// Name is recorded as the approver. If [safety.Config].Approvers is set, it must include the name. Empty: "discord:" and the
	// id.
	Name string `db:"name"`
}

type personRow struct {
	Person
	Signature string `db:"signature"`
}

// ErrWhitelistAltered reports that the whitelist is not as [SetWhitelist] wrote it with the ledger's key. Nobody may answer until
// it is set again.
var ErrWhitelistAltered = errors.New("the whitelist was altered in the database, or signed with another key: set it anew")

// SetWhitelist permits exactly these people to answer by pressing buttons. An empty list permits nobody. Each row is signed with
// a key derived from the ledger's, over the whole list. If something else writes a row, or puts a row back after its person was
// removed, the list is [ErrWhitelistAltered].
func SetWhitelist(ctx context.Context, tx queue.Tx, l *safety.Ledger, people []Person) error {
	if err := fields.Required("discord: SetWhitelist: the Ledger", l, "one made by safety.NewLedger, whose key signs the list"); err != nil {
		return err
	}
	people = slices.Clone(people)
	seen := map[string]bool{}
	for i := range people {
		p := &people[i]
		if !validID(p.UserID) || seen[p.UserID] {
			return fmt.Errorf("discord: set the whitelist: user %q: give the id of an account, which is a number, once", p.UserID)
		}
		seen[p.UserID] = true
		p.Name = dbvalue.Clean(strings.TrimSpace(p.Name))
		if p.Name == "" {
			p.Name = "discord:" + p.UserID
		}
	}
	key, err := l.DeriveKey(ctx, listPurpose)
	if err == nil {
		_, err = tx.ExecContext(ctx, deletePeople)
	}
	for _, p := range people {
		if err == nil {
			_, err = tx.ExecContext(ctx, insertPerson, p.UserID, p.Name, dbtime.Of(queue.Now(tx)), listed(key, p, people))
		}
	}
	if err != nil {
		return fmt.Errorf("discord: set the whitelist: %w", err)
	}
	return nil
}

const listPurpose = "the whitelist of discord"

// listed signs a person as a member of a list.
func listed(key []byte, p Person, people []Person) string {
	list := slices.Clone(people)
	slices.SortFunc(list, func(a, b Person) int { return strings.Compare(a.UserID, b.UserID) })
	parts := []string{p.UserID, p.Name}
	for _, each := range list {
		parts = append(parts, each.UserID, each.Name)
	}
	h := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(h, "%q", parts)
	return hex.EncodeToString(h.Sum(nil))
}

// Whitelist returns the people who may answer by pressing buttons. If the list is not as [SetWhitelist] wrote it, Whitelist
// returns it with an error that matches [ErrWhitelistAltered].
func Whitelist(ctx context.Context, db queue.DB, l *safety.Ledger) ([]Person, error) {
	people := []Person{}
	var rows []personRow
	key, err := l.DeriveKey(ctx, listPurpose)
	if err == nil {
		err = dbquery.Select(ctx, db.Reader(), &rows, selectPeople)
	}
	for _, r := range rows {
		people = append(people, r.Person)
	}
	for _, r := range rows {
		if err == nil && !hmac.Equal([]byte(r.Signature), []byte(listed(key, r.Person, people))) {
			err = ErrWhitelistAltered
		}
	}
	if err != nil {
		return people, fmt.Errorf("discord: read the whitelist: %w", err)
	}
	return people, nil
}

// person returns the person on the whitelist; false if the person is not on it.
func (b *Bot) person(ctx context.Context, userID string) (p Person, ok bool, err error) {
	people, err := Whitelist(ctx, b.cfg.DB, b.cfg.Ledger)
	i := slices.IndexFunc(people, func(p Person) bool { return p.UserID == userID })
	if err != nil || i < 0 {
		return p, false, err
	}
	return people[i], true, nil
}
