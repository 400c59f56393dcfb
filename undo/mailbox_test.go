package undo_test

import (
	"context"
	"slices"
	"sync"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// A mailbox behaves as the provider's and ours do: labels change, messages go away, calls fail before, after or amid
// what they do.
type mailbox struct {
	mu       sync.Mutex
	messages map[string]postroom.Snapshot // at the provider
	copies   map[string]postroom.Snapshot // ours, as last set
	calls    int                          // of Apply that changed something

	// Each call takes the first of its faults, if there is one; nil is no fault.
	imageFaults, applyFaults, lostFaults, halfFaults, setFaults []error
}

func newMailbox() *mailbox {
	return &mailbox{messages: make(map[string]postroom.Snapshot), copies: make(map[string]postroom.Snapshot)}
}

func take(faults *[]error) error {
	if len(*faults) == 0 {
		return nil
	}
	err := (*faults)[0]
	*faults = (*faults)[1:]
	return err
}

func (m *mailbox) Snapshot(ctx context.Context, _, messageID string) (i postroom.Snapshot, err error) {
	err = queuetest.Outside(ctx, "image", func() error {
		i, err = m.read(messageID)
		return err
	})
	return i, err
}

func (m *mailbox) read(messageID string) (postroom.Snapshot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := take(&m.imageFaults); err != nil {
		return postroom.Snapshot{}, err
	}
	i, ok := m.messages[messageID]
	if !ok {
		return i, postroom.ErrMessageGone
	}
	return i, nil
}

func (m *mailbox) Apply(ctx context.Context, _, messageID string, c postroom.LabelChange) (i postroom.Snapshot,
	err error) {
	err = queuetest.Outside(ctx, "apply", func() error {
		i, err = m.apply(messageID, c)
		return err
	})
	return i, err
}

func (m *mailbox) apply(messageID string, c postroom.LabelChange) (postroom.Snapshot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := take(&m.applyFaults); err != nil {
		return postroom.Snapshot{}, err
	}
	i, ok := m.messages[messageID]
	if !ok {
		return i, postroom.ErrMessageGone
	}
	half := take(&m.halfFaults)
	if half != nil {
		c.Add = nil
	}
	m.messages[messageID] = changed(i, c)
	m.calls++
	if half != nil {
		return postroom.Snapshot{}, half
	}
	return m.messages[messageID], take(&m.lostFaults)
}

func (m *mailbox) Follow(_ context.Context, _, messageID string) (postroom.StoreChange, error) {
	return func(_ context.Context, _ postroom.Tx, _ postroom.LabelChange, after postroom.Snapshot) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		if err := take(&m.setFaults); err != nil {
			return err
		}
		m.copies[messageID] = after
		return nil
	}, nil
}

// change is the user's hand.
func (m *mailbox) change(messageID string, c postroom.LabelChange) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.messages[messageID] = changed(m.messages[messageID], c)
}

func (m *mailbox) image(messageID string) postroom.Snapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.messages[messageID]
}

func (m *mailbox) remove(messageID string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.messages, messageID)
}

func changed(i postroom.Snapshot, c postroom.LabelChange) postroom.Snapshot {
	kept := slices.DeleteFunc(slices.Clone(i.LabelIDs), func(l string) bool { return slices.Contains(c.Remove, l) })
	return postroom.NewSnapshot(append(kept, c.Add...))
}
