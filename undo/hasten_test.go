package undo_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/undo"
)

var _ undo.Hastener = (*gmail.Mailbox)(nil)

// A hastening mailbox keeps what it was told to hasten.
type hastening struct {
	*mailbox
	hastened [][]string
}

func (m *hastening) Hasten(_ context.Context, _ *queue.Queue, accountID, messageID string, queued []string) error {
	m.hastened = append(m.hastened, append([]string{accountID, messageID}, queued...))
	return nil
}

// What waits for the end of an undo is hastened once it has ended, well or not, and not while it is tried again.
func TestTheEndOfAnUndoHastensWhatWaits(t *testing.T) {
	each(t, func(t *testing.T, h *fixture) {
		box := &hastening{mailbox: h.box}
		h.cfg.Mailbox = box
		original := h.acted([]string{"INBOX"}, nil)
		hastened := []string{account, original.MessageID}

		h.box.applyFaults = []error{queue.Fatal(errors.New("fault"))}
		h.request(original.ID)
		h.run()
		require.Equal(t, [][]string{hastened}, box.hastened)

		h.box.applyFaults = []error{errors.New("fault")}
		h.request(original.ID)
		h.run()
		require.Equal(t, [][]string{hastened, hastened}, box.hastened)
		require.Equal(t, postroom.ActionCompleted, h.undos(original.ID)[0].State)
	})
}
