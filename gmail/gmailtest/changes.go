package gmailtest

import (
	"context"
	"net/http"
	"slices"

	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"github.com/postroom-go/postroom/queue"
)

// The bounds of one request, as at Gmail.
const (
	maxBatch        = 1000
	maxLabelChanges = 100
)

// changeLabels makes every change of a message's labels. A change without effect adds no history.
func changeLabels(ctx context.Context, tx queue.Tx, account int64, id string, add,
	remove []string) (messageRow, error) {
	m, err := loadMessage(ctx, tx, account, id)
	if err != nil {
		return m, err
	}
	add = without(slices.Compact(slices.Sorted(slices.Values(add))), m.Labels)
	remove = without(m.Labels, without(m.Labels, remove))
	if len(add) == 0 && len(remove) == 0 {
		return m, nil
	}
	for _, label := range add {
		if _, err := tx.ExecContext(ctx, insertMessageLabel, m.Seq, label, m.Account, m.InternalDate); err != nil {
			return m, err
		}
	}
	for _, label := range remove {
		if _, err := tx.ExecContext(ctx, deleteMessageLabel, m.Seq, label); err != nil {
			return m, err
		}
	}
	m.Labels = slices.Sorted(slices.Values(append(without(m.Labels, remove), add...)))
	return m, m.record(ctx, tx, kindLabels, add, remove)
}

// checkChange refuses invalid changes like Gmail, before anything is changed.
func checkChange(ctx context.Context, tx queue.Tx, account int64, add, remove []string) error {
	if len(add) == 0 && len(remove) == 0 {
		return wire.InvalidArgument("No label add or removes specified")
	}
	if len(add) > maxLabelChanges || len(remove) > maxLabelChanges {
		return wire.InvalidArgument("Too many labels: at most %d can be added or removed", maxLabelChanges)
	}
	for _, id := range slices.Concat(add, remove) {
		if slices.Contains(fixedLabels, id) {
			return invalidLabel(id)
		}
		if slices.Contains(add, id) && slices.Contains(remove, id) {
			return wire.InvalidArgument("Cannot both add and remove the same label: %s", id)
		}
	}
	return checkLabels(ctx, tx, account, slices.Concat(add, remove))
}

func (s *Server) modifyMessage(ctx context.Context, r *request) (any, error) {
	var request gmail.ModifyMessageRequest
	if err := r.readJSON(&request); err != nil {
		return nil, err
	}
	return s.changeOne(ctx, r, request.AddLabelIds, request.RemoveLabelIds)
}

func (s *Server) changeOne(ctx context.Context, r *request, add, remove []string) (any, error) {
	var m messageRow
	err := s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		if err := checkChange(ctx, tx, r.account.id, add, remove); err != nil {
			return err
		}
		m, err = changeLabels(ctx, tx, r.account.id, r.param("id"), add, remove)
		return err
	})
	return m.ref(), err
}

func (s *Server) trashMessage(ctx context.Context, r *request) (any, error) {
	return s.changeOne(ctx, r, []string{labelTrash}, []string{labelInbox})
}

func (s *Server) untrashMessage(ctx context.Context, r *request) (any, error) {
	return s.changeOne(ctx, r, nil, []string{labelTrash})
}

// batchModify skips messages that do not exist, like Gmail.
func (s *Server) batchModify(ctx context.Context, r *request) (any, error) {
	var request gmail.BatchModifyMessagesRequest
	if err := r.readJSON(&request); err != nil {
		return nil, err
	}
	return nil, s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := checkChange(ctx, tx, r.account.id, request.AddLabelIds, request.RemoveLabelIds); err != nil {
			return err
		}
		return each(request.Ids, func(id string) error {
			_, err := changeLabels(ctx, tx, r.account.id, id, request.AddLabelIds, request.RemoveLabelIds)
			return err
		})
	})
}

// each calls a function for each existing message of a batch.
func each(ids []string, do func(id string) error) error {
	if len(ids) == 0 {
		return wire.InvalidArgument("No message ids specified.")
	}
	if len(ids) > maxBatch {
		return wire.InvalidArgument("Too many message ids: at most %d", maxBatch)
	}
	for _, id := range ids {
		if err := checkID(id); err != nil {
			return err
		}
	}
	for _, id := range ids {
		if err := do(id); err != nil && wire.AsError(err).Status != http.StatusNotFound {
			return err
		}
	}
	return nil
}

func (s *Server) deleteMessage(ctx context.Context, r *request) (any, error) {
	return nil, s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return removeMessage(ctx, tx, r.account.id, r.param("id"))
	})
}

func (s *Server) batchDelete(ctx context.Context, r *request) (any, error) {
	var request gmail.BatchDeleteMessagesRequest
	if err := r.readJSON(&request); err != nil {
		return nil, err
	}
	return nil, s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return each(request.Ids, func(id string) error { return removeMessage(ctx, tx, r.account.id, id) })
	})
}

func removeMessage(ctx context.Context, tx queue.Tx, account int64, id string) error {
	m, err := loadMessage(ctx, tx, account, id)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, deleteMessage, m.Seq); err != nil {
		return err
	}
	return m.record(ctx, tx, kindDeleted, nil, nil)
}
