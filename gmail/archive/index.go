package archive

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// ErrChain reports manifests that are not one chain, or not the one that is known: some were altered or removed, or
// another archive was put in their place.
var ErrChain = errors.New("archive: the chain of manifests is broken")

type archiveRow struct {
	AccountID      string      `db:"account_id"`
	Email          string      `db:"email"`
	Number         int64       `db:"head_number"`
	Head           string      `db:"head_sha256"`
	HistoryID      int64       `db:"history_id"`
	Records        string      `db:"records_cursor"`
	ListingHistory int64       `db:"listing_history"`
	ListingToken   string      `db:"listing_token"`
	RanAt          dbtime.Time `db:"ran_at"`
	FailedAt       dbtime.Time `db:"failed_at"`
	Failure        string      `db:"failure"`
	VerifiedAt     dbtime.Time `db:"verified_at"`
	ChainFault     string      `db:"chain_fault"`
}

type messageRow struct {
	MessageID    string      `db:"message_id"`
	ThreadID     string      `db:"thread_id"`
	SHA256       string      `db:"sha256"`
	Size         int64       `db:"size"`
	ReceivedAt   dbtime.Time `db:"received_at"`
	RFCMessageID string      `db:"rfc_message_id"`
	Labels       string      `db:"labels_json"`
	State        State       `db:"state"`
	VerifiedAt   dbtime.Time `db:"verified_at"`
	Fault        string      `db:"fault"`
	Removed      int         `db:"removed"`
}

func (r *messageRow) entry() (Entry, error) {
	e := Entry{MessageID: r.MessageID, ThreadID: r.ThreadID, SHA256: r.SHA256, Size: r.Size, ReceivedAt: r.ReceivedAt.Time,
		RFCMessageID: r.RFCMessageID, State: r.State, Removed: r.Removed > 0}
	if err := json.Unmarshal([]byte(r.Labels), &e.Labels); err != nil {
		return e, fmt.Errorf("archive: labels of message %s as stored: %w", r.MessageID, err)
	}
	return e, nil
}

// state returns what is known of an archive; [postroom.ErrNotFound] if nothing is.
func (a *Archive) state(ctx context.Context, accountID string) (r archiveRow, err error) {
	err = dbquery.Get(ctx, a.cfg.DB.Reader(), &r, sqlArchive, accountID)
	if errors.Is(err, sql.ErrNoRows) {
		err = postroom.ErrNotFound
	}
	if err != nil {
		err = fmt.Errorf("archive: of account %s: %w", accountID, err)
	}
	return r, err
}

// ensure returns what is known of an archive that is to be written, which is new otherwise.
func (a *Archive) ensure(ctx context.Context, accountID, email string) (r archiveRow, err error) {
	if err := checkAccount(accountID); err != nil {
		return r, err
	}
	r, err = a.state(ctx, accountID)
	if errors.Is(err, postroom.ErrNotFound) {
		if err = a.exec(ctx, sqlEnsure, accountID, email); err == nil {
			r, err = a.state(ctx, accountID)
		}
	}
	if err == nil {
		err = a.checkKey(ctx, accountID, max(r.Number, 1))
	}
	return r, err
}

// checkKey returns an error that matches [ErrNoKey] if the manifest of a number is encrypted and there is no key:
// nothing is written unencrypted beside what is encrypted.
func (a *Archive) checkKey(ctx context.Context, accountID string, number int64) error {
	if a.sealed() {
		return nil
	}
	key := manifestKey(accountID, number)
	r, err := a.cfg.Bucket.NewRangeReader(ctx, key, 0, int64(len(sealedStart)), nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil // which a verification reports
	}
	var start []byte
	if err == nil {
		start, err = io.ReadAll(r)
		err = errors.Join(err, r.Close())
	}
	if err == nil && string(start) == sealedStart {
		err = ErrNoKey
	}
	if err != nil {
		return fmt.Errorf("archive: read %s: %w", key, err)
	}
	return nil
}

func (a *Archive) exec(ctx context.Context, statement string, args ...any) error {
	return a.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := dbquery.Exec(ctx, tx, statement, args...)
		return err
	})
}

// Message returns the entry of an archived message, by Gmail's id; [postroom.ErrNotFound] if it is not archived.
func (a *Archive) Message(ctx context.Context, accountID, messageID string) (Entry, error) {
	var r messageRow
	err := dbquery.Get(ctx, a.cfg.DB.Reader(), &r, sqlMessage, accountID, messageID)
	if errors.Is(err, sql.ErrNoRows) {
		err = postroom.ErrNotFound
	}
	if err != nil {
		return Entry{}, fmt.Errorf("archive: message %s of account %s: %w", messageID, accountID, err)
	}
	return r.entry()
}

// known returns those of the messages that are archived.
func (a *Archive) known(ctx context.Context, accountID string, ids []string) (map[string]Entry, error) {
	known := map[string]Entry{}
	for chunk := range slices.Chunk(ids, maildb.Bulk) {
		var rows []messageRow
		if err := dbquery.Select(ctx, a.cfg.DB.Reader(), &rows, sqlKnown+maildb.Places(2, len(chunk)),
			maildb.Args(accountID, chunk)...); err != nil {
			return nil, fmt.Errorf("archive: messages of account %s: %w", accountID, err)
		}
		for i := range rows {
			e, err := rows[i].entry()
			if err != nil {
				return nil, err
			}
			known[e.MessageID] = e
		}
	}
	return known, nil
}

// add writes the next manifest of an account, and brings the tables up to it.
func (a *Archive) add(ctx context.Context, accountID, email string, m *manifest) error {
	unlock, err := a.lock(ctx, accountID)
	if err != nil {
		return err
	}
	defer unlock()
	return a.addLocked(ctx, accountID, email, m)
}

// addLocked is add for who has the lock.
func (a *Archive) addLocked(ctx context.Context, accountID, email string, m *manifest) error {
	if _, err := a.ensure(ctx, accountID, email); err != nil {
		return err
	}
	for range 10 {
		// The next manifest may be there: of an attempt that crashed, or of another process.
		torn, err := a.follow(ctx, accountID)
		if err != nil {
			return err
		}
		at, err := a.state(ctx, accountID)
		if err != nil {
			return err
		}
		m.AccountID, m.Email, m.Number, m.Previous = accountID, email, at.Number+1, at.Head
		m.WrittenAt = a.cfg.Now().UTC().Truncate(time.Second)
		content, err := m.encode()
		if err != nil {
			return err
		}
		data, err := a.seal(content)
		if err != nil {
			return err
		}
		key := manifestKey(accountID, m.Number)
		if err := a.put(ctx, key, data, torn); errors.Is(err, errExists) {
			continue
		} else if err != nil {
			return err
		}
		back, err := a.read(ctx, key, maxManifest)
		if err == nil && sumOf(back) != sumOf(content) {
			err = ErrAltered
		}
		if err != nil {
			return fmt.Errorf("archive: read back %s: %w", key, err)
		}
		return a.apply(ctx, m, sumOf(content))
	}
	return fmt.Errorf("%w: others write manifests of account %s at the same time", ErrChain, accountID)
}

// apply brings the tables up to a manifest, which is the one after the head.
func (a *Archive) apply(ctx context.Context, m *manifest, sum string) error {
	err := a.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		moved, err := dbquery.Exec(ctx, tx, sqlMoveHead, m.Number, sum, int64(m.HistoryID), m.Records, m.Email, m.AccountID,
			m.Number-1, m.Previous)
		if err == nil && moved == 0 {
			var at archiveRow
			err = dbquery.Get(ctx, tx, &at, sqlArchive, m.AccountID)
			if err == nil && at.Number == m.Number && at.Head == sum {
				return nil // another process has found it in the bucket
			}
			err = cmp.Or(err, fmt.Errorf("%w: manifest %d does not follow the last one that is known", ErrChain, m.Number))
		}
		for i := range m.lines {
			if e := m.lines[i].Mail; e != nil && err == nil {
				var verified time.Time
				if m.lines[i].read {
					verified = m.WrittenAt
				}
				err = saveEntry(ctx, tx, m.AccountID, e, verified)
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("archive: account %s: %w", m.AccountID, err)
	}
	return nil
}

// saveEntry saves the state of a message, which was verified at a time; zero: not now.
func saveEntry(ctx context.Context, tx queue.Tx, accountID string, e *Entry, verified time.Time) error {
	labels, err := maildb.JSON(e.Labels)
	if err != nil {
		return err
	}
	removed := 0
	if e.Removed {
		removed = 1
	}
	_, err = dbquery.Exec(ctx, tx, sqlSaveMessage, accountID, e.MessageID, e.ThreadID, e.SHA256, e.Size,
		dbtime.Of(e.ReceivedAt), e.RFCMessageID, labels, string(e.State), dbtime.Of(verified), removed)
	if err == nil {
		_, err = dbquery.Exec(ctx, tx, sqlArchivedNow, accountID, e.MessageID)
	}
	return err
}

// manifests lists the manifests of an account in the order of their numbers.
func (a *Archive) manifests(ctx context.Context, accountID string) (list []object, err error) {
	objects := a.cfg.Bucket.List(&blob.ListOptions{Prefix: prefixOf(accountID) + "manifest/"})
	for {
		found, err := objects.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("archive: list manifests: %w", err)
		}
		if o, ok := parseKey(accountID, found.Key); ok && o.manifest > 0 {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(x, y object) int { return cmp.Compare(x.manifest, y.manifest) })
	return list, nil
}

// readManifest reads a manifest; an error that matches [ErrChain] says what is wrong with it. One without a key for it
// may be right.
func (a *Archive) readManifest(ctx context.Context, accountID string, number int64) (*manifest, string, error) {
	key := manifestKey(accountID, number)
	content, err := a.read(ctx, key, maxManifest)
	if errors.Is(err, ErrNoKey) {
		return nil, "", fmt.Errorf("archive: %s: %w", key, err)
	}
	if err != nil && !isFault(err) {
		return nil, "", err
	}
	if err == nil && len(content) == 0 {
		err = ErrUnreadable
	}
	var m *manifest
	if err == nil {
		m, err = decodeManifest(accountID, number, content)
	}
	if err != nil {
		return nil, "", fmt.Errorf("%w: %s: %w", ErrChain, key, err)
	}
	return m, sumOf(content), nil
}

// follow brings the tables up to the manifests that follow the head. torn reports that the next one is the last and
// cannot be read, as after a loss of power while it was written: the tables never had it, and it may be replaced. The
// caller has the lock.
func (a *Archive) follow(ctx context.Context, accountID string) (torn bool, err error) {
	at, err := a.state(ctx, accountID)
	if err != nil {
		return false, err
	}
	for number := at.Number + 1; ; number++ {
		m, sum, err := a.readManifest(ctx, accountID, number)
		switch {
		case errors.Is(err, ErrMissing):
			return false, nil
		case errors.Is(err, ErrUnreadable):
			more, fault := a.cfg.Bucket.Exists(ctx, manifestKey(accountID, number+1))
			if more || fault != nil {
				return false, errors.Join(err, fault)
			}
			return true, nil
		case err != nil:
			return false, err
		}
		if a.cfg.Sync != nil { // its process may have died before
			if err := a.cfg.Sync(manifestKey(accountID, number)); err != nil {
				return false, fmt.Errorf("archive: %w", err)
			}
		}
		if err := a.apply(ctx, m, sum); err != nil {
			return false, err
		}
	}
}

// Accounts returns the ids of the accounts that the bucket has an archive of.
func (a *Archive) Accounts(ctx context.Context) (ids []string, err error) {
	objects := a.cfg.Bucket.List(&blob.ListOptions{Prefix: root, Delimiter: "/"})
	for {
		found, err := objects.Next(ctx)
		if errors.Is(err, io.EOF) {
			return ids, nil
		}
		if err != nil {
			return nil, fmt.Errorf("archive: list accounts: %w", err)
		}
		id := strings.TrimSuffix(strings.TrimPrefix(found.Key, root), "/")
		if found.IsDir && checkAccount(id) == nil {
			ids = append(ids, id)
		}
	}
}

// Rebuild makes the index of an account again from the bucket alone, which is trusted: compare the head with one that
// was kept elsewhere. If a manifest is not right, or cannot be read, the index stays as it is; if that is the last, and
// the index does not know it, the index has those before it, and the error names it. Nothing else may write the archive
// meanwhile. It needs no Store in [Config].
func (a *Archive) Rebuild(ctx context.Context, accountID string) error {
	if err := checkAccount(accountID); err != nil {
		return err
	}
	unlock, err := a.lock(ctx, accountID)
	if err != nil {
		return err
	}
	defer unlock()
	list, err := a.manifests(ctx, accountID)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return fmt.Errorf("archive: the bucket has no manifest of account %s: %w", accountID, postroom.ErrNotFound)
	}
	at, err := a.state(ctx, accountID)
	if err != nil && !errors.Is(err, postroom.ErrNotFound) {
		return err
	}
	number, _, fault := a.readChain(ctx, accountID, list)
	torn := errors.Is(fault, ErrUnreadable) && number == list[len(list)-1].manifest && number > at.Number
	if fault != nil && !torn {
		return fault
	}
	if err := a.forgetIndex(ctx, accountID); err != nil {
		return err
	}
	if err := a.exec(ctx, sqlEnsure, accountID, ""); err != nil {
		return err
	}
	_, err = a.follow(ctx, accountID)
	return errors.Join(fault, err)
}

// forgetIndex deletes what the tables know of the bucket, in many small transactions.
func (a *Archive) forgetIndex(ctx context.Context, accountID string) error {
	if _, err := dbquery.DeleteInBatches(ctx, a.cfg.DB, sqlForgetMessages, accountID); err != nil {
		return fmt.Errorf("archive: forget account %s: %w", accountID, err)
	}
	return errors.Join(a.exec(ctx, sqlForgetUnarchived, accountID), a.exec(ctx, sqlForgetArchive, accountID))
}

// Forget removes what the tables know of an account, such as one that was removed. The bucket stays as it is.
func (a *Archive) Forget(ctx context.Context, accountID string) error {
	return errors.Join(a.forgetIndex(ctx, accountID), a.exec(ctx, sqlForgetRestored, accountID))
}
