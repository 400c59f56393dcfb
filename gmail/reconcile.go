package gmail

import (
	"context"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
)

// The bounds of one job of a reconciliation.
const (
	listPage    = gmailapi.MaxPageSize // one call
	comparePage = 2000                 // rows
	verifyPage  = 20                   // calls
	cleanPage   = 5000                 // rows
)

// reconcile does one step of a reconciliation and enqueues the next. A job that is not of the step to come has been
// overtaken by a new run, or is a second one, and changes nothing.
func (j *jobs) reconcile(ctx context.Context, w *queue.Work[ReconcilePayload]) error {
	account, client, err := j.open(ctx, w.Payload.AccountID)
	if err != nil {
		return gmailapi.Verdict(err)
	}
	if w.Payload.Step == 0 {
		return j.startCheck(ctx, w, client, account)
	}
	run, err := j.runs().run(ctx, j.Store.DB().Reader(), account.ID)
	if err != nil || run.Seq != w.Payload.Step || run.Phase == phaseDone {
		return err
	}
	step := &reconcileStep{jobs: j, client: client, account: account, run: run, restarts: w.Payload.Restarts}
	apply, err := step.prepare(ctx)
	if err != nil && run.Phase == phaseVerify && ofMessage(err) && w.Ends(gmailapi.Verdict(err)) {
		apply, err = step.leaveUnread(ctx, err)
	}
	if err != nil {
		return gmailapi.Verdict(err)
	}
	err = w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := j.runs().lockRun(ctx, tx, account.ID, run.Seq); err != nil {
			return err
		}
		if err := apply(ctx, tx, w.Queue()); err != nil {
			return err
		}
		w.SetResult(step.run.report())
		return step.goOn(ctx, tx, w.Queue())
	})
	if errors.Is(err, errRunOvertaken) {
		return w.Complete(ctx, nothing)
	}
	if err == nil && step.run.Phase == phaseDone {
		step.log(ctx)
	}
	return err
}

func nothing(context.Context, queue.Tx) error { return nil }

// startCheck begins a run, or continues an unfinished one.
func (j *jobs) startCheck(ctx context.Context, w *queue.Work[ReconcilePayload], client *gmailapi.Client,
	account mailstore.Account) error {
	profile, err := j.profile(ctx, client, account)
	if err != nil {
		return gmailapi.Verdict(err)
	}
	return w.Complete(ctx, func(ctx context.Context, tx queue.Tx) error {
		err := j.startRun(ctx, tx, w.Queue(), account.ID, newRun{cause: ReconcileCheck, historyID: profile.HistoryID})
		if !errors.Is(err, postroom.ErrNotFound) {
			return err
		}
		return j.goOnWithRun(ctx, tx, w.Queue(), account.ID)
	})
}

// goOnWithRun enqueues the next job of a run, unless the job exists and the run continues by itself. A run that has
// stopped begins its current list again, because Gmail may have refused the token of the next page.
func (j *jobs) goOnWithRun(ctx context.Context, tx queue.Tx, q *queue.Queue, accountID string) error {
	run, err := j.runs().run(ctx, tx, accountID)
	if err != nil {
		return err
	}
	next, err := q.EnqueueTx(ctx, tx, run.job())
	if err != nil || next.Duplicate || run.Phase != phaseList {
		return err
	}
	if err := j.runs().lockRun(ctx, tx, accountID, run.Seq); err != nil {
		return err
	}
	run.beginList()
	return j.runs().saveRun(ctx, tx, &run)
}

// startRun begins a run, in the place of one that has not finished, and enqueues its first job.
func (j *jobs) startRun(ctx context.Context, tx queue.Tx, q *queue.Queue, accountID string, n newRun) error {
	run, err := j.runs().startRun(ctx, tx, accountID, n)
	if err != nil {
		return err
	}
	_, err = q.EnqueueTx(ctx, tx, run.job())
	return err
}

// A reconcileStep is one job of a run.
type reconcileStep struct {
	*jobs
	client  *gmailapi.Client
	account mailstore.Account
	run     reconcileRun

	restarts int // of the present list
}

// An applyFunc stores the result of a step and moves its run on.
type applyFunc func(ctx context.Context, tx queue.Tx, q *queue.Queue) error

// prepare makes the calls of the step.
func (s *reconcileStep) prepare(ctx context.Context) (applyFunc, error) {
	switch s.run.Phase {
	case phaseList:
		return s.list(ctx)
	case phaseCompare:
		return s.compare, nil
	case phaseMissing:
		return s.missing, nil
	case phaseVerify:
		return s.verify(ctx)
	case phaseClean:
		return s.clean, nil
	}
	return nil, queue.Fatal(fmt.Errorf("gmail: reconciliation of account %s is in the unknown phase %q",
		s.account.Email, s.run.Phase))
}

// next begins a phase.
func (s *reconcileStep) next(p reconcilePhase) { s.run.Phase, s.run.Page = p, "" }

// goOn stores the run and enqueues its next job.
func (s *reconcileStep) goOn(ctx context.Context, tx queue.Tx, q *queue.Queue) error {
	s.run.Seq++
	if err := s.runs().saveRun(ctx, tx, &s.run); err != nil {
		return err
	}
	if s.run.Phase != phaseDone {
		_, err := q.EnqueueTx(ctx, tx, ReconcilePayload{AccountID: s.run.AccountID, Step: s.run.Seq,
			Restarts: s.restarts}.job())
		return err
	}
	if s.OnReconciled == nil {
		return nil
	}
	return s.OnReconciled(ctx, tx, s.run.report())
}

func (s *reconcileStep) log(ctx context.Context) {
	r := s.run.report()
	log := s.Logger.InfoContext
	if r.Cause == ReconcileCheck && r.Differences() > 0 {
		log = s.Logger.WarnContext // nothing should have been missed
	}
	log(ctx, "compared the stored messages with Gmail", "account", s.account.Email, "cause", r.Cause, "listed", r.Listed,
		"added", r.Added, "relabelled", r.Relabelled, "deleted", r.Deleted, "restored", r.Restored)
}

// list lists one page of one list, or begins the list again if Gmail refuses the token of the page. The first job
// makes the lists: spam and trash come first, so that it is known of each message in the list of all whether it is in
// them.
func (s *reconcileStep) list(ctx context.Context) (applyFunc, error) {
	if len(s.run.Lists) == 0 {
		labels, err := s.client.ListLabels(ctx)
		if err == nil && len(labels) == 0 {
			err = errNoLabels
		}
		return func(context.Context, queue.Tx, *queue.Queue) error {
			s.run.Lists = listsOf(labels)
			return nil
		}, err
	}
	label := s.run.Lists[0]
	page, err := s.client.ListMessages(ctx, gmailapi.MessageList{
		LabelID: label, IncludeSpamTrash: true, PageToken: s.run.Page, Max: listPage,
	})
	switch {
	case gmailapi.IsPageRefused(s.run.Page, err) && s.restarts < maxRestarts:
		return s.restart, nil
	case label != "" && s.run.Page == "" && (gmailapi.ClassOf(err) == gmailapi.ClassInvalid ||
		gmailapi.ClassOf(err) == gmailapi.ClassNotFound):
		page = gmailapi.MessagePage{} // the label was deleted since, and no message carries it
	case err != nil:
		return nil, err
	}
	return func(ctx context.Context, tx queue.Tx, q *queue.Queue) error {
		if err := s.runs().saveListed(ctx, tx, &s.run, label, page.IDs); err != nil {
			return err
		}
		if label == "" {
			s.run.Listed += len(page.IDs)
			if err := s.enqueueUnknown(ctx, tx, q, page.IDs); err != nil {
				return err
			}
		}
		s.run.Page = page.NextPageToken
		if s.run.Page != "" {
			return nil
		}
		s.restarts = 0
		if s.run.Lists = s.run.Lists[1:]; len(s.run.Lists) == 0 {
			s.next(phaseCompare)
		}
		return nil
	}, nil
}

// restart begins the current list again. What it has listed so far counts once.
func (s *reconcileStep) restart(ctx context.Context, _ queue.Tx, _ *queue.Queue) error {
	s.Logger.WarnContext(ctx, "Gmail refuses the token of a page; the list begins again", "account", s.account.Email,
		"label", s.run.Lists[0])
	s.restarts++
	s.run.beginList()
	return nil
}

// beginList begins the present list at its first page.
func (r *reconcileRun) beginList() {
	r.Page = ""
	if len(r.Lists) > 0 && r.Lists[0] == "" {
		r.Listed = 0
	}
}

// listsOf returns the labels to list; an empty one is the list of all messages.
func listsOf(labels []postroom.Label) []string {
	lists := []string{postroom.LabelSpam, postroom.LabelTrash, ""}
	for _, l := range labels {
		if l.ID != "" && l.ID != postroom.LabelSpam && l.ID != postroom.LabelTrash {
			lists = append(lists, l.ID)
		}
	}
	return lists
}

// enqueueUnknown enqueues the ingest of missing messages that belong in the store. For an account that was never
// backfilled whole, and for spam and trash that backfills leave out, only messages that came or changed in the gap
// belong there.
func (s *reconcileStep) enqueueUnknown(ctx context.Context, tx queue.Tx, q *queue.Queue, ids []string) error {
	unknown, err := s.runs().unknown(ctx, tx, &s.run, ids)
	if err != nil {
		return err
	}
	var ingests []queue.NewJob
	var suspects []string
	for _, m := range unknown {
		switch {
		case s.account.BackfilledAll && (s.SpamAndTrash || !m.hidden()):
			ingests = append(ingests, s.run.ingest(m.ProviderID))
		case s.run.Cause == ReconcileGap:
			suspects = append(suspects, m.ProviderID)
		}
	}
	if err := s.enqueueIngests(ctx, tx, q, ingests); err != nil {
		return err
	}
	return s.runs().saveSuspects(ctx, tx, s.account.ID, suspects)
}

func (s *reconcileStep) enqueueIngests(ctx context.Context, tx queue.Tx, q *queue.Queue, ingests []queue.NewJob) error {
	if len(ingests) == 0 {
		return nil
	}
	results, err := q.EnqueueManyTx(ctx, tx, ingests)
	for _, r := range results {
		if !r.Duplicate {
			s.run.Added++
		}
	}
	return err
}

// compare finds the listed messages whose labels or presence differ in the store.
func (s *reconcileStep) compare(ctx context.Context, tx queue.Tx, _ *queue.Queue) error {
	rows, err := s.runs().compared(ctx, tx, &s.run)
	if err != nil {
		return err
	}
	var suspects []string
	for _, row := range rows {
		differs, err := row.differs()
		if err != nil {
			return err
		}
		if differs {
			suspects = append(suspects, row.ProviderID)
		}
	}
	if len(rows) < comparePage {
		s.next(phaseMissing)
	} else {
		s.run.Page = rows[len(rows)-1].ProviderID
	}
	return s.runs().saveSuspects(ctx, tx, s.account.ID, suspects)
}

// missing finds the stored messages that were not listed. Those that are newer than the run came after the listing.
func (s *reconcileStep) missing(ctx context.Context, tx queue.Tx, _ *queue.Queue) error {
	rows, err := s.runs().unlisted(ctx, tx, &s.run)
	if err != nil {
		return err
	}
	var suspects []string
	for _, row := range rows {
		if !row.Listed && uint64(row.HistoryID) <= s.run.HistoryID {
			suspects = append(suspects, row.ProviderID)
		}
	}
	if len(rows) < comparePage {
		s.next(phaseVerify)
	} else {
		s.run.Page = rows[len(rows)-1].ProviderID
	}
	return s.runs().saveSuspects(ctx, tx, s.account.ID, suspects)
}

// clean removes the notes of the run.
func (s *reconcileStep) clean(ctx context.Context, tx queue.Tx, _ *queue.Queue) error {
	left, err := s.runs().cleanListed(ctx, tx, s.account.ID)
	if err == nil && !left {
		s.next(phaseDone)
	}
	return err
}
