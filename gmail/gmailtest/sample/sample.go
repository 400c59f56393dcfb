package sample

import (
	"embed"
	"fmt"
	"iter"
	"strings"

	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
)

//go:embed messages
var files embed.FS

// Owner is the address to which the mail of the sample was sent.
const Owner = "you@example.com"

// Labels are the user labels of the mailbox. Some messages already have one; the others wait for rules.
var Labels = []string{
	"Bounces", "Calendar", "Family", "Mailing lists", "Newsletters", "Notifications", "Orders", "Receipts", "Security",
	"Social", "Suspicious", "Travel", "Work",
}

// Mailbox returns the sample as a source of messages, always in the same order.
func Mailbox() mailbox.Source { return source{} }

type source struct{}

// Name implements [mailbox.Source].
func (source) Name() string { return "sample" }

// Messages implements [mailbox.Source].
func (source) Messages() iter.Seq2[mailbox.Message, error] {
	return func(yield func(mailbox.Message, error) bool) {
		for i, m := range mails {
			raw, err := m.raw()
			if err != nil {
				yield(mailbox.Message{}, err)
				return
			}
			msg := mailbox.Message{
				Position: i + 1,
				Name:     m.name + ".eml",
				Raw:      raw,
				Labels:   strings.Fields(m.labels),
				Labeled:  true,
				Received: m.received,
			}
			if !yield(msg, nil) {
				return
			}
		}
	}
}

func (m mail) raw() ([]byte, error) {
	if m.name == nestedName {
		return nested(), nil
	}
	raw, err := files.ReadFile("messages/" + m.name + ".eml")
	if err != nil {
		return nil, fmt.Errorf("sample: %w", err)
	}
	return raw, nil
}
