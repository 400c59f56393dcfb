package discord

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

const (
	selectPeople = `
SELECT user_id, name
FROM discord_whitelist
ORDER BY user_id`

	deletePeople = `
DELETE FROM discord_whitelist`

	// If two programs start at once and set the same list, neither fails.
	insertPerson = `
INSERT INTO discord_whitelist (user_id, name, added_at)
VALUES ($1, $2, $3)
ON CONFLICT (user_id) DO UPDATE
SET name = excluded.name,
  added_at = excluded.added_at`
)

// A Person may answer by pressing buttons.
type Person struct {
	// UserID is the id of the account at Discord, which is a number. Names there can change; ids cannot.
	UserID string `db:"user_id"`
	// Name is recorded as the approver. If [safety.Config].Approvers is set, it must include the name. Empty: "discord:"
	// and the id.
	Name string `db:"name"`
}

// SetWhitelist permits exactly these people to answer by pressing buttons. An empty list permits nobody.
func SetWhitelist(ctx context.Context, tx queue.Tx, people []Person) error {
	people = slices.Clone(people)
	seen := map[string]bool{}
	for i := range people {
		p := &people[i]
		if !validID(p.UserID) || seen[p.UserID] {
			return fmt.Errorf("discord: set the whitelist: user %q: give the id of an account, which is a number, once",
				p.UserID)
		}
		seen[p.UserID] = true
		p.Name = dbvalue.Clean(strings.TrimSpace(p.Name))
		if p.Name == "" {
			p.Name = "discord:" + p.UserID
		}
	}
	_, err := tx.ExecContext(ctx, deletePeople)
	for _, p := range people {
		if err == nil {
			_, err = tx.ExecContext(ctx, insertPerson, p.UserID, p.Name, dbtime.Of(queue.Now(tx)))
		}
	}
	if err != nil {
		return fmt.Errorf("discord: set the whitelist: %w", err)
	}
	return nil
}

// Whitelist returns the people who may answer by pressing buttons.
func Whitelist(ctx context.Context, db queue.DB) ([]Person, error) {
	people := []Person{}
	if err := dbquery.Select(ctx, db.Reader(), &people, selectPeople); err != nil {
		return nil, fmt.Errorf("discord: read the whitelist: %w", err)
	}
	return people, nil
}

// person returns the person on the whitelist; false if the person is not on it.
func (b *Bot) person(ctx context.Context, userID string) (p Person, ok bool, err error) {
	people, err := Whitelist(ctx, b.cfg.DB)
	i := slices.IndexFunc(people, func(p Person) bool { return p.UserID == userID })
	if err != nil || i < 0 {
		return p, false, err
	}
	return people[i], true, nil
}
