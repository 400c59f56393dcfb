package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/queue"
)

// RunJob archives what is new in a mailbox.
const RunJob queue.Type[RunPayload] = "archive.run"

// A RunPayload names the account of a [RunJob].
type RunPayload struct {
	AccountID string `json:"account_id"`
	// Step counts the jobs of one run.
	Step int `json:"step,omitempty"`
	// Archived and Unreadable count messages since the run began.
	Archived   int `json:"archived,omitempty"`
	Unreadable int `json:"unreadable,omitempty"`
	// Removing says that the mailbox was read to its end, and old copies are removed; Removed counts them.
	Removing bool `json:"removing,omitempty"`
	Removed  int  `json:"removed,omitempty"`
}

// NewRunJob makes the job for an account. Its key allows one unfinished run of an account.
func NewRunJob(accountID string) queue.NewJob { return RunPayload{AccountID: accountID}.job() }

func (p RunPayload) job() queue.NewJob {
	return RunJob.New(p, options(string(RunJob)+":"+p.AccountID, mailstore.LimitKey(p.AccountID)))
}

// The bounds of a step: what is read until a manifest names it.
const (
	sliceMessages = 200
	sliceBytes    = 64 << 20
	sliceTime     = time.Minute
	// shortWait is how long a step waits for quota. A longer wait ends it, so that its worker is free.
	shortWait = 2 * time.Second
	// sliceRecords is how many records a manifest has.
	sliceRecords = 1000
)

// run makes one step, and enqueues the next.
func (a *Archive) run(ctx context.Context, w *queue.Work[RunPayload]) error {
	if w.Payload.Removing {
		return a.removeOld(ctx, w)
	}
	s, err := a.step(ctx, w)
	if err != nil {
		return a.failed(ctx, w.Payload.AccountID, err)
	}
	next := w.Payload
	next.Step++
	next.Archived += s.archived
	next.Unreadable += len(s.unread)
	w.SetResult(map[string]int{"archived": next.Archived, "unreadable": next.Unreadable})
	record := func(ctx context.Context, tx queue.Tx) error { return s.record(ctx, tx) }
	next.Removing = s.ended && a.cfg.KeepMonths > 0
	if s.ended && !next.Removing {
		return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
			if err := record(ctx, tx); err != nil {
				return err
			}
			_, err := dbquery.Exec(ctx, tx, sqlRan, dbtime.Of(queue.Now(tx)), w.Payload.AccountID)
			return err
		})
	}
	job := next.job()
	if s.wait > 0 {
		job.NotBefore = time.Now().Add(s.wait)
	}
	return goOn(ctx, w, job, record)
}

// failed returns how a job that has met an error ends, and notes the error unless it passes by itself.
func (a *Archive) failed(ctx context.Context, accountID string, err error) error {
	if one := (refusal{}); !errors.As(err, &one) {
		err = gmailapi.Verdict(err)
	}
	if errors.Is(err, ErrChain) || errors.Is(err, ErrNoKey) {
		err = queue.Fatal(err)
	}
	if ctx.Err() == nil && !gmailapi.ClassOf(err).Defers() {
		err = errors.Join(err, a.exec(ctx, sqlFailed, dbtime.Of(time.Now()), err.Error(), accountID))
	}
	return err
}

// A step is one step of a run.
type step struct {
	*Archive
	account mailstore.Account
	client  *gmailapi.Client
	at      archiveRow
	names   map[string]string // of labels, by their ids; nil before they are asked for

	begun    time.Time
	read     int64
	archived int
	unread   map[string]string // why messages cannot be read, by their ids
	attempt  int               // of the job, from 1; those that were deferred do not count
	gaveUp   bool              // a message that Gmail refuses was noted for the first time
	wait     time.Duration     // until Gmail permits more
	partial  bool              // it ended before all was read
	ended    bool              // the run has ended
	moves    []statement       // what is written with the end of the job
}

type statement struct {
	sql  string
	args []any
}

func (s *step) then(sql string, args ...any) { s.moves = append(s.moves, statement{sql, args}) }

// record writes how far the run has come.
func (s *step) record(ctx context.Context, tx queue.Tx) error {
	for id, reason := range s.unread {
		s.then(sqlSaveUnarchived, s.account.ID, id, reason, dbtime.Of(queue.Now(tx)))
	}
	for _, move := range s.moves {
		if _, err := dbquery.Exec(ctx, tx, move.sql, move.args...); err != nil {
			return fmt.Errorf("archive: account %s: %w", s.account.ID, err)
		}
	}
	return nil
}

func (a *Archive) step(ctx context.Context, w *queue.Work[RunPayload]) (*step, error) {
	account, client, err := a.open(ctx, w.Payload.AccountID)
	if errors.Is(err, postroom.ErrNotFound) {
		return nil, queue.Cancel(err)
	}
	if err != nil {
		return nil, err
	}
	s := &step{Archive: a, account: account, client: client, begun: time.Now(), unread: map[string]string{},
		attempt: w.Job.Failures + 1}
	if s.at, err = a.ensure(ctx, account.ID, account.Email); err != nil {
		return nil, err
	}
	if w.Payload.Step == 0 || w.Job.Attempt > 1 {
		if err := a.catchUp(ctx, account.ID); err != nil {
			return nil, err
		}
		if s.at, err = a.state(ctx, account.ID); err != nil {
			return nil, err
		}
	}
	if s.at.HistoryID == 0 || s.at.ListingHistory != 0 {
		return s, s.list(ctx)
	}
	return s, s.readHistory(ctx, w.Payload.Step == 0)
}

// catchUp finds the manifests that the tables lack, and a gap in them.
func (a *Archive) catchUp(ctx context.Context, accountID string) error {
	unlock, err := a.lock(ctx, accountID)
	if err != nil {
		return err
	}
	defer unlock()
	torn, err := a.follow(ctx, accountID)
	if err != nil {
		return err
	}
	at, err := a.state(ctx, accountID)
	if err != nil {
		return err
	}
	list, err := a.manifests(ctx, accountID)
	if n := len(list); err == nil && !torn && n > 0 && list[n-1].manifest > at.Number {
		err = fmt.Errorf("%w: %s is missing, and there are later ones", ErrChain, manifestKey(accountID, at.Number+1))
	}
	return err
}

// list archives a page of the list of all messages. The history id is read before the first page, so that changes
// during the listing are seen after it.
func (s *step) list(ctx context.Context) error {
	history, token := s.at.ListingHistory, s.at.ListingToken
	if history == 0 {
		profile, err := s.client.Profile(ctx)
		if err != nil {
			return err
		}
		history = int64(profile.HistoryID)
	}
	query := "-in:drafts"
	if s.cfg.KeepMonths > 0 { // what is older would be copied only to be removed
		query += fmt.Sprintf(" after:%d", s.oldest().Unix()-1)
	}
	page, err := s.client.ListMessages(ctx, gmailapi.MessageList{Query: query, PageToken: token,
		IncludeSpamTrash: s.cfg.SpamTrash, Max: sliceMessages})
	if gmailapi.IsPageRefused(token, err) {
		s.then(sqlListing, history, "", s.account.ID) // from the first page, past what is archived
		return nil
	}
	if err != nil {
		return err
	}
	known, err := s.known(ctx, s.account.ID, page.IDs)
	if err != nil {
		return err
	}
	m := &manifest{}
	ids := slices.DeleteFunc(page.IDs, func(id string) bool { return known[id].MessageID != "" })
	if err := s.fetch(ctx, ids, m); err != nil {
		return err
	}
	switch {
	case s.partial:
		s.then(sqlListing, history, token, s.account.ID)
	case page.NextPageToken != "":
		s.then(sqlListing, history, page.NextPageToken, s.account.ID)
	default:
		m.HistoryID = uint64(history)
		s.then(sqlListing, 0, "", s.account.ID)
	}
	return s.write(ctx, m)
}

// write adds a manifest unless there is nothing to say.
func (s *step) write(ctx context.Context, m *manifest) error {
	if len(m.lines) == 0 && m.HistoryID == 0 {
		return nil
	}
	return s.add(ctx, s.account.ID, s.account.Email, m)
}

// fetch reads messages, writes them, and adds them to the manifest, as far as the bounds of the step and the quota
// permit.
func (s *step) fetch(ctx context.Context, ids []string, m *manifest) error {
	for i, id := range ids {
		if i > 0 && (len(m.lines) >= maxLines-1 || s.read > sliceBytes || time.Since(s.begun) > sliceTime) {
			s.partial = true
			return nil
		}
		err := s.pace(ctx)
		if err == nil && !s.partial {
			err = s.readLabels(ctx)
		}
		if err == nil && !s.partial {
			if err = s.fetchOne(ctx, id, m); refuses(err) {
				err = s.refused(ctx, id, err, len(m.lines) > 0)
			}
		}
		var limit *gmailapi.Error
		if errors.As(err, &limit) && limit.Class.Defers() && len(m.lines) > 0 {
			s.partial, s.wait = true, limit.Delay()
			return nil
		}
		if err != nil || s.partial {
			return err
		}
	}
	return nil
}

// pace waits until the quota permits to read a message and leaves some to more urgent calls.
func (s *step) pace(ctx context.Context) error {
	for {
		wait := s.client.QuotaWait(true, gmailapi.MethodGetMessage)
		if wait > shortWait {
			s.partial, s.wait = true, wait
		}
		if wait <= 0 || s.partial {
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// fetchOne archives a message. One that cannot be read is noted, and holds up nothing.
func (s *step) fetchOne(ctx context.Context, id string, m *manifest) error {
	e, raw, err := s.fetchRaw(ctx, s.client, id, s.names)
	switch class := gmailapi.ClassOf(err); {
	case class == gmailapi.ClassGone:
		s.then(sqlArchivedNow, s.account.ID, id)
		return nil
	case err != nil && (class == gmailapi.ClassAnswer || class == ""):
		s.note(ctx, id, err)
		return nil
	case err != nil:
		return err
	case s.skips(&e):
		return nil
	}
	if e.SHA256, err = s.writeMail(ctx, s.account.ID, raw); err != nil {
		return err
	}
	s.read += e.Size
	s.archived++
	m.lines = append(m.lines, line{Mail: &e, read: true})
	return nil
}

// note has a message that cannot be read tried again by the next run.
func (s *step) note(ctx context.Context, id string, err error) {
	s.unread[id] = err.Error()
	s.cfg.Logger.WarnContext(ctx, "a message cannot be archived", "account", s.account.Email, "message", id, "error", err)
}

// skips reports whether a message is of those that are not archived.
func (s *step) skips(e *Entry) bool {
	return slices.ContainsFunc(e.Labels, func(l Label) bool {
		return l.ID == postroom.LabelDraft || !s.cfg.SpamTrash && (l.ID == postroom.LabelSpam || l.ID == postroom.LabelTrash)
	})
}

func (s *step) readLabels(ctx context.Context) (err error) {
	if s.names == nil {
		s.names, err = labelNames(ctx, s.client)
	}
	return err
}

func labelNames(ctx context.Context, client *gmailapi.Client) (map[string]string, error) {
	labels, err := client.ListLabels(ctx)
	names := make(map[string]string, len(labels))
	for _, l := range labels {
		names[l.ID] = l.Name
	}
	return names, err
}

// fetchRaw reads a message at Gmail. An error that is not one of Gmail's is one of the message.
func (a *Archive) fetchRaw(ctx context.Context, client *gmailapi.Client, id string,
	names map[string]string) (e Entry, raw []byte, err error) {
	m, err := client.GetRaw(ctx, id)
	if err != nil {
		return e, nil, err
	}
	if raw, err = m.Bytes(); err != nil {
		return e, nil, err
	}
	e = Entry{MessageID: id, ThreadID: m.ThreadID, SHA256: sumOf(raw), Size: int64(len(raw)), ReceivedAt: m.ReceivedAt,
		RFCMessageID: rfcMessageID(raw), Labels: labelsOf(m.LabelIDs, names)}
	e.State = stateOf(e.Labels)
	return e, raw, nil
}

// rfcMessageID returns the Message-ID of a message without angle brackets; empty if there is none.
func rfcMessageID(raw []byte) string {
	head := raw[:min(len(raw), 256<<10)]
	if headers := mime.ParseHeaders(head); len(headers) > 0 {
		if ids := mime.ParseMessageIDs(headers[0].Get("Message-ID")); len(ids) > 0 {
			return ids[0]
		}
	}
	return ""
}

func labelsOf(ids []string, names map[string]string) []Label {
	labels := make([]Label, 0, len(ids))
	for _, id := range postroom.NewSnapshot(ids).LabelIDs {
		labels = append(labels, Label{ID: id, Name: cmp.Or(names[id], id)})
	}
	return labels
}

func stateOf(labels []Label) State {
	if slices.ContainsFunc(labels, func(l Label) bool { return l.ID == postroom.LabelTrash }) {
		return Trashed
	}
	return Present
}
