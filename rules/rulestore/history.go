package rulestore

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/internal/dbvalue"
	"github.com/postroom-go/postroom/queue"
)

// A versionRow is a version as it is stored.
type versionRow struct {
	Number    int64          `db:"version"`
	AccountID string         `db:"account_id"`
	Author    string         `db:"author"`
	Origin    string         `db:"origin"`
	Detail    string         `db:"detail"`
	Digest    string         `db:"digest"`
	Rules     int            `db:"rules"`
	Source    sql.NullString `db:"source"`
	CreatedAt dbtime.Time    `db:"created_at"`
}

func (r *versionRow) version() Version {
	return Version{
		Number: r.Number, AccountID: r.AccountID, By: Author{Name: r.Author, Origin: Origin(r.Origin), Detail: r.Detail},
		At: r.CreatedAt.Time, Digest: r.Digest, Rules: r.Rules, HasSource: r.Source.Valid,
	}
}

// A historyRow is the state of one rule in a version. Without content the version deleted the rule.
type historyRow struct {
	RuleID      string         `db:"rule_id"`
	RuleVersion string         `db:"rule_version"`
	Digest      string         `db:"digest"`
	Content     sql.NullString `db:"content"`
}

// historyOf returns a stored rule in the form of the history. The digest covers what a person chose: two rules that
// differ only in ids and times have the same digest.
func historyOf(r *row) (historyRow, error) {
	content, err := json.Marshal(r) //nolint:musttag // the names of the columns' fields are kept with it
	if err != nil {
		return historyRow{}, err
	}
	same := *r
	same.ID, same.AccountID, same.CreatedAt, same.UpdatedAt = "", "", dbtime.Time{}, dbtime.Time{}
	text, err := json.Marshal(&same) //nolint:musttag // a hash is made of it
	if err != nil {
		return historyRow{}, err
	}
	sum := sha256.Sum256(text)
	rule := r.rule()
	rule.Normalize()
	return historyRow{r.ID, rule.Version(), hex.EncodeToString(sum[:]),
		sql.NullString{String: string(content), Valid: true}}, nil
}

func (h *historyRow) row() (*row, error) {
	var r row
	if err := json.Unmarshal([]byte(h.Content.String), &r); err != nil { //nolint:musttag // see historyOf
		return nil, fmt.Errorf("rule %s as it was: %w", h.RuleID, err)
	}
	return &r, nil
}

// A setDigest is the sum of the digests of rules: it is equal for equal rules, in whichever order they came, and is
// known after a change without reading the rules that did not change.
type setDigest struct{ sum big.Int }

var digestBound = new(big.Int).Lsh(big.NewInt(1), 256)

func parseDigest(text string) *setDigest {
	d := &setDigest{}
	if text != "" {
		d.sum.SetString(text, 16)
	}
	return d
}

func (d *setDigest) add(digest string) {
	d.sum.Add(&d.sum, &parseDigest(digest).sum).Mod(&d.sum, digestBound)
}

func (d *setDigest) remove(digest string) {
	d.sum.Sub(&d.sum, &parseDigest(digest).sum).Mod(&d.sum, digestBound)
}

func (d *setDigest) String() string { return fmt.Sprintf("%064x", &d.sum) }

// keepFirst makes a version of rules that were stored before versions existed.
func (e *edit) keepFirst(ctx context.Context, accountID string) error {
	last, err := lastVersion(ctx, e.tx, accountID)
	if err != nil || last.Number > 0 {
		return err
	}
	var rows []row
	if err := dbquery.Select(ctx, e.tx, &rows, sqlRulesOf, accountID); err != nil || len(rows) == 0 {
		return err
	}
	digest, list := &setDigest{}, make([]historyRow, len(rows))
	for i := range rows {
		if list[i], err = historyOf(&rows[i]); err != nil {
			return err
		}
		digest.add(list[i].Digest)
	}
	found := Author{Origin: OriginFound}
	return e.write(ctx, versionRow{AccountID: accountID, Digest: digest.String(), Rules: len(rows)}, found, list)
}

// record makes a version of the rules of an account; the rules with the ids may have changed.
func (e *edit) record(ctx context.Context, accountID string, ids []string) error {
	last, err := lastVersion(ctx, e.tx, accountID)
	if err != nil {
		return err
	}
	digest, count := parseDigest(last.Digest), last.Rules
	var changed []historyRow
	for _, id := range ids {
		now, err := currentState(ctx, e.tx, id)
		if err != nil {
			return err
		}
		var before historyRow
		err = dbquery.Get(ctx, e.tx, &before, sqlLastState, accountID, id)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if now.Content.Valid == before.Content.Valid && now.Digest == before.Digest {
			continue
		}
		changed = append(changed, now)
		if before.Content.Valid {
			digest.remove(before.Digest)
			count--
		}
		if now.Content.Valid {
			digest.add(now.Digest)
			count++
		}
	}
	if len(changed) == 0 && last.Number > 0 { // the first version of none says that there are to be none
		if same, err := e.sameSource(ctx, accountID); err != nil || same {
			return err
		}
	}
	v := versionRow{AccountID: accountID, Digest: digest.String(), Rules: count}
	if e.source != nil {
		v.Source = sql.NullString{String: *e.source, Valid: true}
	}
	return e.write(ctx, v, e.author, changed)
}

// currentState is a rule as it is stored now, or without content if it is gone.
func currentState(ctx context.Context, tx queue.Tx, id string) (historyRow, error) {
	var r row
	err := dbquery.Get(ctx, tx, &r, sqlRule, id)
	if errors.Is(err, sql.ErrNoRows) {
		return historyRow{RuleID: id}, nil
	}
	if err != nil {
		return historyRow{}, err
	}
	return historyOf(&r)
}

// sameSource reports whether the text of the file is the one that is known.
func (e *edit) sameSource(ctx context.Context, accountID string) (bool, error) {
	if e.source == nil {
		return true, nil
	}
	var known string
	err := dbquery.Get(ctx, e.tx, &known, sqlLastSource, accountID)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return known == *e.source, err
}

// write stores a version under the next number.
func (e *edit) write(ctx context.Context, v versionRow, by Author, changed []historyRow) error {
	if err := dbquery.Get(ctx, e.tx, &v.Number, sqlNextVersion); err != nil {
		return err
	}
	_, err := e.tx.ExecContext(ctx, sqlInsertVersion, v.Number, v.AccountID, dbvalue.Clean(by.Name), string(by.origin()),
		dbvalue.Clean(by.Detail),
		v.Digest, v.Rules, v.Source, dbtime.Of(queue.Now(e.tx)))
	if err != nil {
		return err
	}
	for _, h := range changed {
		if _, err := e.tx.ExecContext(ctx, sqlInsertState, v.AccountID, h.RuleID, v.Number, h.RuleVersion, h.Digest,
			h.Content); err != nil {
			return err
		}
	}
	return nil
}

// lastVersion returns the newest version of the rules of an account; the zero row if there is none.
func lastVersion(ctx context.Context, q dbquery.Querier, accountID string) (versionRow, error) {
	var last versionRow
	err := dbquery.Get(ctx, q, &last, sqlLastVersion, accountID)
	if errors.Is(err, sql.ErrNoRows) {
		return versionRow{}, nil
	}
	return last, err
}
