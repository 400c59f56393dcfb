package view

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/safety"
)

// Requests are a page of what waits for a person, newest first.
type Requests struct {
	List []Request `json:"approvals"`
	Next string    `json:"next,omitempty"` // the id of the action after which the next page begins; empty on the last one
	// All are the requests of the filter that may be answered at once; nil without a filter.
	All *Batch `json:"all,omitempty"`
	// Batches are the senders and rules with several requests that may be answered at once; none with a filter.
	Batches []Batch `json:"batches,omitempty"`
}

// A Batch are requests that a person may answer at once.
type Batch struct {
	Sender string `json:"sender"`
	By     string `json:"by"`              // the rule or the model
	Rule   string `json:"rule,omitempty"`  // the id of the rule; empty for a model
	Source string `json:"source"`          // of the decisions
	Would  string `json:"would,omitempty"` // what all of them would do; empty if they differ
	N      int    `json:"n"`
	Digest string `json:"digest"` // changes with what is in the batch

	Shown []string `json:"shown"` // the requests, see [ShownRequest]
}

// MaxBatch bounds what is answered at once.
const MaxBatch = 500

// RequestsPage is the number of requests on a page.
const RequestsPage = 50

// NewRequests reads a page of the requests that the filter selects.
func NewRequests(ctx context.Context, h *app.App, f safety.Filter, filtered bool) (*Requests, error) {
	names, err := h.LabelNames(ctx)
	if err != nil {
		return nil, err
	}
	mailboxes, err := Mailboxes(ctx, h)
	if err != nil {
		return nil, err
	}
	f.Limit = RequestsPage + 1
	waiting, err := h.Ledger.Approvals(ctx, f)
	if err != nil {
		return nil, err
	}
	v := new(Requests)
	if len(waiting) > RequestsPage {
		waiting = waiting[:RequestsPage]
		v.Next = waiting[RequestsPage-1].Action.ID
	}
	lacking, err := LackingAccess(ctx, h)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	for _, w := range waiting {
		r := NewRequest(h, w, names, mailboxes, now)
		r.lack(lacking[w.Action.AccountID])
		v.List = append(v.List, r)
	}
	f.Before = ""
	batches, err := readBatches(ctx, h, f, names, mailboxes)
	switch {
	case err != nil:
		return nil, err
	case filtered:
		v.All = join(batches)
	default:
		v.Batches = slices.DeleteFunc(batches, func(b Batch) bool { return b.N < 2 })
		slices.SortStableFunc(v.Batches, func(a, b Batch) int { return cmp.Compare(b.N, a.N) })
		v.Batches = v.Batches[:min(len(v.Batches), mostBatches)]
	}
	return v, nil
}

// CountWaiting counts what waits for a person in the mailboxes of the ids, at most [MostCounted] of each; for no ids,
// in all mailboxes.
func CountWaiting(ctx context.Context, h *app.App, accountIDs ...string) (n int, err error) {
	if len(accountIDs) == 0 {
		return h.Ledger.CountApprovals(ctx)
	}
	for _, id := range accountIDs {
		list, err := h.Ledger.Approvals(ctx, safety.Filter{AccountID: id, Limit: MostCounted})
		if err != nil {
			return 0, err
		}
		n += len(list)
	}
	return n, nil
}

// MostCounted bounds what is counted of one mailbox.
const MostCounted = 100

// mostBatches bounds the batches of a page.
const mostBatches = 8

// AllRequests reads what may be answered at once of the requests that the filter selects; nil if there is nothing.
func AllRequests(ctx context.Context, h *app.App, f safety.Filter) (*Batch, error) {
	batches, err := readBatches(ctx, h, f, nil, nil)
	return join(batches), err
}

// readBatches reads the newest requests that may be answered at once, by sender and rule.
func readBatches(ctx context.Context, h *app.App, f safety.Filter, names app.LabelNames,
	mailboxes map[string]string) ([]Batch, error) {
	var list []Batch
	f.Limit, f.Before = 100, ""
	now, n := time.Now(), 0
	for {
		page, err := h.Ledger.Approvals(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, w := range page {
			r := NewRequest(h, w, names, mailboxes, now)
			if !r.Together || n == MaxBatch {
				continue
			}
			n++
			d := w.Decision.Decision
			list = addRequest(list, Batch{Sender: r.Sender, By: r.By, Rule: d.RuleID, Source: string(d.Source),
				Would: r.Would}, r)
		}
		if len(page) < f.Limit || n == MaxBatch {
			for i := range list {
				list[i].seal()
			}
			return list, nil
		}
		f.Before = page[len(page)-1].Action.ID
	}
}

// addRequest adds a request to its batch.
func addRequest(list []Batch, of Batch, r Request) []Batch {
	i := slices.IndexFunc(list, func(b Batch) bool { return b.Sender == of.Sender && b.By == of.By && b.Rule == of.Rule })
	if i < 0 {
		i, list = len(list), append(list, of)
	}
	b := &list[i]
	if b.Would != r.Would {
		b.Would = ""
	}
	b.Shown = append(b.Shown, r.Shown)
	return list
}

// join makes one batch of several; nil if there is none.
func join(list []Batch) *Batch {
	if len(list) == 0 {
		return nil
	}
	all := list[0]
	for _, b := range list[1:] {
		if b.Would != all.Would {
			all.Would = ""
		}
		all.Shown = append(all.Shown, b.Shown...)
	}
	all.seal()
	return &all
}

func (b *Batch) seal() {
	b.N = len(b.Shown)
	sorted := slices.Sorted(slices.Values(b.Shown))
	sum := sha256.Sum256([]byte(strings.Join(sorted, "\n")))
	b.Digest = hex.EncodeToString(sum[:16])
}
