package safety

import (
	"context"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// An old key verifies what it signed before its replacement, and nothing later. The first entry of a new key names the ends that
// all chains had then. An attacker with the old key can rewrite the entries before these ends, but then the chains no longer lead
// to the ends.

// ends are the ends of the chains when a key began to sign.
type ends map[int]AuditHead

// covers reports whether an entry is at or before the ends.
func (s ends) covers(lane int, entry int64) bool { return entry >= 1 && entry <= s[lane].Entries }

// contradict reports whether an entry is at the position of an end and differs from it.
func (s ends) contradict(lane int, entry int64, mac string) bool {
	return entry == s[lane].Entries && mac != s[lane].MAC
}

// keyOf returns the id of a signature's key; empty for no signature.
func keyOf(signature string) string {
	id, _, _ := strings.Cut(signature, ":")
	return id
}

// checkAt is check for a signature in an entry: an old key must have signed it before that key ended.
func (k *keyring) checkAt(lane int, entry int64, signature string, parts []string) signed {
	fits := k.check(signature, parts)
	id := keyOf(signature)
	if fits != signedRight || id == k.id {
		return fits
	}
	for _, old := range k.old {
		if ended := old.before.Load(); old.id == id && ended != nil && !ended.covers(lane, entry) {
			return signedWrong
		}
	}
	return fits
}

// checkEntry is checkAt for the MAC of an entry.
func (k *keyring) checkEntry(e *AuditEntry, before string) signed {
	if named := k.before.Load(); named != nil && named.contradict(e.Lane, e.Entry, e.MAC) {
		return signedWrong
	}
	return k.checkAt(e.Lane, e.Entry, e.MAC, e.signedParts(before))
}

// loadEnds reads where the key began, if there are old keys. Until the key has signed anything, the old keys verify everything.
func (k *keyring) loadEnds(ctx context.Context, q dbquery.Querier) error {
	if len(k.old) == 0 || k.before.Load() != nil {
		return nil
	}
	begin, err := k.begin(ctx, q)
	if err != nil {
		return fmt.Errorf("safety: read where the key began to sign: %w", err)
	}
	if begin == nil {
		return nil
	}
	for _, old := range k.old {
		ended, err := k.ended(ctx, q, old, begin)
		if err != nil {
			return fmt.Errorf("safety: read where a key from before ended: %w", err)
		}
		old.before.Store(&ended)
	}
	k.before.Store(&begin)
	return nil
}

// ended returns where an old key ended: where the first other key began that found chains signed by the old one.
func (k *keyring) ended(ctx context.Context, q dbquery.Querier, old *keyring, begin ends) (ends, error) {
	var entries []AuditEntry
	if err := dbquery.Select(ctx, q, &entries, selectKeyEntries); err != nil {
		return nil, err
	}
	for i := range entries {
		e := &entries[i]
		if e.Subject == old.id || keyOf(e.Digest) != e.Subject || k.check(e.Digest, []string{auditKey, e.Subject, e.Note}) != signedRight {
			continue
		}
		found, err := parseEnds(e.Note)
		if err != nil {
			return nil, err
		}
		for _, h := range found {
			if keyOf(h.MAC) == old.id {
				return found, nil
			}
		}
	}
	return begin, nil
}

// begin returns where the key began to sign. The result is nil if the key has signed nothing. It is empty if the key has signed
// and does not say where it began: it is the first key, or the entry was removed.
func (k *keyring) begin(ctx context.Context, q dbquery.Querier) (ends, error) {
	var entries []AuditEntry
	if err := dbquery.Select(ctx, q, &entries, selectKeyEntry, k.id); err != nil {
		return nil, err
	}
	for i := range entries {
		e := &entries[i]
		if k.check(e.Digest, []string{auditKey, k.id, e.Note}) == signedRight && keyOf(e.Digest) == k.id {
			return parseEnds(e.Note)
		}
	}
	if len(entries) > 0 {
		return ends{}, nil
	}
	var lanes []laneRow
	if err := dbquery.Select(ctx, q, &lanes, selectLanes); err != nil {
		return nil, err
	}
	for i := range lanes {
		if keyOf(lanes[i].MAC) == k.id {
			return ends{}, nil
		}
	}
	return nil, nil
}

func parseEnds(note string) (ends, error) {
	s := ends{}
	for text := range strings.FieldsSeq(note) {
		h, err := ParseAuditHead(text)
		if err != nil {
			return nil, err
		}
		s[h.Lane] = h
	}
	return s, nil
}

// beginKey returns the entry with which a key begins to sign after another key. begins is false if the key has begun already or
// is the first.
func (l *Ledger) beginKey(ctx context.Context, tx queue.Tx, lane *laneRow) (e AuditEntry, begins bool, err error) {
	if keyOf(lane.MAC) == l.keys.id || lane.Seen == 0 {
		return e, false, nil
	}
	if begun, err := l.keys.begin(ctx, tx); begun != nil || err != nil {
		return e, false, err
	}
	var lanes []laneRow
	if err := dbquery.Select(ctx, tx, &lanes, selectLanes); err != nil {
		return e, false, err
	}
	var heads []string
	for i := range lanes {
		if lanes[i].Entries > 0 {
			heads = append(heads, lanes[i].String())
		}
	}
	note := strings.Join(heads, " ")
	e = l.entry(auditKey, "", l.keys.id, 1, note, []string{l.keys.id, note})
	return e, true, nil
}
