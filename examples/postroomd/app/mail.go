package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/pipeline"
)

// mostSearched is how many pages of the store are read for one that a person sees. A search for what is nearly nowhere
// would read the whole mailbox otherwise.
const mostSearched = 2

// SearchMail fills a page of a search: a page of the store may be short although there is more. If little matches, it
// is short as well, or empty, and ReadTo says how far back the search has come.
func (h *App) SearchMail(ctx context.Context, accountID string, s mailindex.Search) (mailindex.Page, error) {
	page, err := h.Mail.Search(ctx, accountID, s)
	if errors.Is(err, mailindex.ErrSearchCursor) {
		return page,
			usage.Errorf(
				"--cursor %s is of no list of this search and mailbox; copy the one that the list before ended with, and give the same search; leave it out for the first page", s.Cursor)
	}
	for n := 1; n < mostSearched && err == nil && page.Next != "" && len(page.Messages) < s.Limit; n++ {
		rest := s
		rest.Cursor, rest.Limit = page.Next, s.Limit-len(page.Messages)
		var more mailindex.Page
		more, err = h.Mail.Search(ctx, accountID, rest)
		page.Messages, page.Next, page.ReadTo = append(page.Messages, more.Messages...), more.Next, more.ReadTo
	}
	return page, err
}

// FindMessage finds a message of an account by its id at Gmail or by Postroom's id, or by the beginning or the end of
// one.
func (h *App) FindMessage(ctx context.Context, account mailstore.Account, id string) (*postroom.Message, error) {
	ours, err := h.Mail.MessageID(ctx, account.ID, id)
	if errors.Is(err, postroom.ErrNotFound) {
		ours, err = id, nil
	}
	if err != nil {
		return nil, err
	}
	m, err := h.Mail.Message(ctx, account.ID, ours)
	if errors.Is(err, postroom.ErrNotFound) {
		m, err = h.completeMessage(ctx, account.ID, id)
	}
	if errors.Is(err, postroom.ErrNotFound) {
		return nil, usage.Errorf("%s has no message %s; 'postroomd mail list' lists them", account.Email, id)
	}
	return m, err
}

// completeMessage finds a message by the beginning or the end of an id.
func (h *App) completeMessage(ctx context.Context, accountID, typed string) (*postroom.Message, error) {
	var ours string
	atGmail, err := gmailIDs.complete(ctx, h, accountID, typed)
	switch {
	case err != nil:
		return nil, err
	case atGmail != "":
		ours, err = h.Mail.MessageID(ctx, accountID, atGmail)
	default:
		ours, err = messageIDs.complete(ctx, h, accountID, typed)
	}
	if err != nil {
		return nil, err
	}
	return h.Mail.Message(ctx, accountID, ours)
}

// MissedBy says how many messages of an account are not taken in, and why; nil if none.
func (h *App) MissedBy(ctx context.Context, accountID string) (fault, err error) {
	jobs, err := h.Backlog.Missed(ctx, accountID)
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	last := &jobs[0] // the newest
	again := "by 'postroomd run' or the next run"
	if pipeline.EndedByCrashes(last) {
		again = fmt.Sprintf("by 'postroomd jobs retry %s'", last.ID)
	}
	return fmt.Errorf("%s again %s; the last error, of job %s (%s): %s",
		printer.Count(len(jobs), "message is not taken in, and is tried", "messages are not taken in, and are tried"),
		again, last.ID, last.Type, last.LastError), nil
}
