package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"gocloud.dev/blob"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/internal/maildb"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// VerifyJob reads archived messages and compares them with what the index says.
const VerifyJob queue.Type[VerifyPayload] = "archive.verify"

// A VerifyPayload says what a [VerifyJob] verifies.
type VerifyPayload struct {
	AccountID string `json:"account_id"`
	// All verifies each message. Otherwise a fiftieth of them is, those that were verified longest ago: in a weekly job
	// each message has its turn within a year.
	All bool `json:"all,omitempty"`
	// Step counts the jobs of one verification. After is the message after which the step begins.
	Step    int    `json:"step,omitempty"`
	After   string `json:"after,omitempty"`
	Checked int    `json:"checked,omitempty"`
	Faults  int    `json:"faults,omitempty"`
}

// NewVerifyJob makes the job for an account. Its key allows one unfinished verification of an account.
func NewVerifyJob(accountID string, all bool) queue.NewJob {
	return VerifyPayload{AccountID: accountID, All: all}.job()
}

func (p VerifyPayload) job() queue.NewJob {
	return VerifyJob.New(p, options(string(VerifyJob)+":"+p.AccountID, ""))
}

const (
	verifyBatch = 500
	sampleShare = 50
)

func (a *Archive) verify(ctx context.Context, w *queue.Work[VerifyPayload]) error {
	p := w.Payload
	if p.Step == 0 {
		if _, err := a.VerifyChain(ctx, p.AccountID); errors.Is(err, postroom.ErrNotFound) {
			return nil // nothing is archived yet
		} else if errors.Is(err, ErrNoKey) {
			return queue.Fatal(err)
		} else if err != nil && !errors.Is(err, ErrChain) {
			return err
		}
	}
	rows, err := a.toVerify(ctx, p)
	if err != nil {
		return err
	}
	found, err := a.verifyRows(ctx, p.AccountID, rows)
	if err != nil {
		return err
	}
	next := p
	next.Step++
	next.Checked += len(rows)
	next.Faults += len(found)
	w.SetResult(map[string]int{"checked": next.Checked, "faults": next.Faults})
	if !p.All || len(rows) < verifyBatch {
		return nil
	}
	next.After = rows[len(rows)-1].MessageID
	return goOn(ctx, w, next.job(), nil)
}

// Verify does at once what a [VerifyJob] does, and returns how many messages were read and how many of them are not
// right; [Archive.Faults] names those. Archived messages that were never verified come first. The error matches
// [ErrChain] if the manifests are not right: the messages were verified all the same.
func (a *Archive) Verify(ctx context.Context, accountID string, all bool) (checked, faults int, err error) {
	_, chain := a.VerifyChain(ctx, accountID)
	if chain != nil && !errors.Is(chain, ErrChain) {
		return 0, 0, chain
	}
	for p := (VerifyPayload{AccountID: accountID, All: all}); ; {
		rows, err := a.toVerify(ctx, p)
		if err != nil {
			return checked, faults, err
		}
		found, err := a.verifyRows(ctx, accountID, rows)
		if err != nil {
			return checked, faults, err
		}
		checked, faults = checked+len(rows), faults+len(found)
		if !all || len(rows) < verifyBatch {
			return checked, faults, chain
		}
		p.After = rows[len(rows)-1].MessageID
	}
}

// toVerify returns the messages of a step.
func (a *Archive) toVerify(ctx context.Context, p VerifyPayload) (rows []messageRow, err error) {
	db := a.cfg.DB.Reader()
	if p.All {
		err = dbquery.Select(ctx, db, &rows, sqlMessagesAfter, p.AccountID, p.After, verifyBatch)
	} else {
		var n counts
		if err = dbquery.Get(ctx, db, &n, sqlCount, p.AccountID); err != nil {
			return nil, fmt.Errorf("archive: account %s: %w", p.AccountID, err)
		}
		most := (n.Messages + sampleShare - 1) / sampleShare
		if err = dbquery.Select(ctx, db, &rows, sqlNeverVerified, p.AccountID, most); err == nil && len(rows) < most {
			var more []messageRow
			err = dbquery.Select(ctx, db, &more, sqlVerifiedLongAgo, p.AccountID, dbtime.Of(time.Now()), most-len(rows))
			rows = append(rows, more...)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("archive: account %s: %w", p.AccountID, err)
	}
	return rows, nil
}

// A Fault is an archived message whose object is not right.
type Fault struct {
	MessageID string // Gmail's
	Object    string // the name in the bucket that the object should have
	Reason    string // why it is not right
}

// verifyRows reads the objects of messages, one at a time, and records what is found.
func (a *Archive) verifyRows(ctx context.Context, accountID string, rows []messageRow) (faults []Fault, err error) {
	reasons := make([]string, len(rows))
	for i := range rows {
		_, err := a.readMail(ctx, accountID, rows[i].SHA256, rows[i].Size)
		if err != nil && !isFault(err) {
			return nil, err
		}
		if err != nil {
			reasons[i] = err.Error()
			faults = append(faults, a.fault(accountID, &rows[i], reasons[i]))
		}
	}
	return faults, a.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		now := dbtime.Of(queue.Now(tx))
		if _, err := dbquery.Exec(ctx, tx, sqlTakeTurn, accountID); err != nil {
			return fmt.Errorf("archive: account %s: %w", accountID, err)
		}
		for i := range rows {
			var err error
			if reasons[i] == "" {
				_, err = dbquery.Exec(ctx, tx, sqlSetVerified, now, accountID, rows[i].MessageID, rows[i].SHA256)
			} else {
				_, err = dbquery.Exec(ctx, tx, sqlSetFault, now, reasons[i], accountID, rows[i].MessageID, rows[i].SHA256)
			}
			if err != nil {
				return fmt.Errorf("archive: account %s: %w", accountID, err)
			}
		}
		return nil
	})
}

func (a *Archive) fault(accountID string, r *messageRow, reason string) Fault {
	return Fault{r.MessageID, rawKey(accountID, r.SHA256, a.sealed()), reason}
}

// VerifyChain reads all manifests of an account, compares them with each other and with the index, records the result,
// and returns their number. The error matches [ErrChain] and names the first manifest that is not right, or [ErrNoKey]
// and names the first that cannot be decrypted.
func (a *Archive) VerifyChain(ctx context.Context, accountID string) (manifests int, err error) {
	at, err := a.state(ctx, accountID)
	if err != nil {
		return 0, err
	}
	list, err := a.manifests(ctx, accountID)
	if err != nil {
		return 0, err
	}
	fault := a.checkChain(ctx, accountID, at, list)
	if fault != nil && !errors.Is(fault, ErrChain) && !errors.Is(fault, ErrNoKey) {
		return 0, fault
	}
	text := ""
	if fault != nil {
		text = fault.Error()
	}
	if err := a.exec(ctx, sqlChainVerified, dbtime.Of(time.Now()), text, accountID); err != nil {
		return 0, fmt.Errorf("archive: account %s: %w", accountID, err)
	}
	return len(list), fault
}

// checkChain compares the manifests up to the head of the index. Those after it are of a run that goes on.
func (a *Archive) checkChain(ctx context.Context, accountID string, at archiveRow, list []object) error {
	end := slices.IndexFunc(list, func(o object) bool { return o.manifest > at.Number })
	if end < 0 {
		end = len(list)
	}
	number, head, err := a.readChain(ctx, accountID, list[:end])
	if err == nil && (number != at.Number || head != at.Head) {
		err = fmt.Errorf("%w: its last manifest is number %d, and the index knows number %d with the SHA-256 %s", ErrChain,
			number, at.Number, at.Head)
	}
	return err
}

// readChain reads manifests, which are those from the first on, and returns the number and the SHA-256 of the last.
func (a *Archive) readChain(ctx context.Context, accountID string, list []object) (number int64, head string,
	err error) {
	for _, o := range list {
		number++
		if o.manifest != number {
			return number, head, fmt.Errorf("%w: %s is in the place of number %d", ErrChain, o.key, number)
		}
		m, sum, err := a.readManifest(ctx, accountID, number)
		if err != nil {
			return number, head, err
		}
		if m.Previous != head {
			return number, head, fmt.Errorf("%w: %s does not follow the manifest before it", ErrChain, o.key)
		}
		head = sum
	}
	return number, head, nil
}

// Leftovers are the objects of an account that no manifest needs.
type Leftovers struct {
	// Orphans counts messages that no entry names, such as those that a run had written when it was interrupted.
	Orphans int
	// Foreign counts objects with names that this package does not give, and Examples are the first of them.
	Foreign  int
	Examples []string
}

// maxExamples bounds the examples of foreign objects.
const maxExamples = 10

// FindLeftovers lists the bucket and returns what does not belong to the archive of an account. It deletes nothing.
func (a *Archive) FindLeftovers(ctx context.Context, accountID string) (l Leftovers, err error) {
	objects := a.cfg.Bucket.List(&blob.ListOptions{Prefix: prefixOf(accountID)})
	var sums []string
	for {
		found, err := objects.Next(ctx)
		if errors.Is(err, io.EOF) {
			return l, a.countOrphans(ctx, accountID, sums, &l)
		}
		if err != nil {
			return l, fmt.Errorf("archive: list the bucket: %w", err)
		}
		o, ok := parseKey(accountID, found.Key)
		switch {
		case !ok:
			l.Foreign++
			if len(l.Examples) < maxExamples {
				l.Examples = append(l.Examples, strings.ToValidUTF8(found.Key[:min(len(found.Key), 200)], "?"))
			}
		case o.sum != "":
			sums = append(sums, o.sum)
		}
		if len(sums) == maildb.Bulk {
			if err := a.countOrphans(ctx, accountID, sums, &l); err != nil {
				return l, err
			}
			sums = sums[:0]
		}
	}
}

func (a *Archive) countOrphans(ctx context.Context, accountID string, sums []string, l *Leftovers) error {
	if len(sums) == 0 {
		return nil
	}
	var known []string
	if err := dbquery.Select(ctx, a.cfg.DB.Reader(), &known, sqlKnownContents+maildb.Places(2, len(sums)),
		maildb.Args(accountID, sums)...); err != nil {
		return fmt.Errorf("archive: account %s: %w", accountID, err)
	}
	l.Orphans += len(sums) - len(known)
	return nil
}
