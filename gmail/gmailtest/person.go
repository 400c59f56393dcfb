package gmailtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"github.com/postroom-go/postroom/queue"
)

// A Person is a person who reads, sorts and deletes mail in the mailbox while programs run. The actions of a Person
// cost no quota, meet no faults and are not a [Call]; they make history and notifications like any change.
type Person struct{ account *Account }

// Person returns the owner of the server as a person who uses the mailbox.
func (s *Server) Person() Person { return s.owner.Person() }

// Person returns the owner as a person who uses the mailbox.
func (a *Account) Person() Person { return Person{a} }

// Read marks messages as read.
func (p Person) Read(ctx context.Context, ids ...string) error {
	return p.change(ctx, ids, nil, []string{labelUnread})
}

// Unread marks messages as unread.
func (p Person) Unread(ctx context.Context, ids ...string) error {
	return p.change(ctx, ids, []string{labelUnread}, nil)
}

// Star stars messages.
func (p Person) Star(ctx context.Context, ids ...string) error {
	return p.change(ctx, ids, []string{"STARRED"}, nil)
}

// Unstar removes the stars from messages.
func (p Person) Unstar(ctx context.Context, ids ...string) error {
	return p.change(ctx, ids, nil, []string{"STARRED"})
}

// Archive removes messages from the inbox.
func (p Person) Archive(ctx context.Context, ids ...string) error {
	return p.change(ctx, ids, nil, []string{labelInbox})
}

// MoveToInbox moves messages to the inbox, including from the trash and the spam.
func (p Person) MoveToInbox(ctx context.Context, ids ...string) error {
	return p.change(ctx, ids, []string{labelInbox}, []string{labelTrash, labelSpam})
}

// Trash moves messages to the trash.
func (p Person) Trash(ctx context.Context, ids ...string) error {
	return p.change(ctx, ids, []string{labelTrash}, []string{labelInbox, labelSpam})
}

// Spam reports messages as spam.
func (p Person) Spam(ctx context.Context, ids ...string) error {
	return p.change(ctx, ids, []string{labelSpam}, []string{labelInbox, labelTrash})
}

// Label adds the label with the name to messages. It creates the label if it is missing.
func (p Person) Label(ctx context.Context, name string, ids ...string) error {
	return p.withLabel(ctx, name, func(label string) error { return p.change(ctx, ids, []string{label}, nil) })
}

// Unlabel removes the label with the name from messages, or returns [ErrNoLabel].
func (p Person) Unlabel(ctx context.Context, name string, ids ...string) error {
	var label labelRow
	err := p.write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		label, err = p.labelNamed(ctx, tx, name)
		return err
	})
	if err != nil {
		return err
	}
	return p.change(ctx, ids, nil, []string{label.ID})
}

// MoveTo removes messages from the inbox and adds the label with the name.
func (p Person) MoveTo(ctx context.Context, name string, ids ...string) error {
	return p.withLabel(ctx, name, func(label string) error {
		return p.change(ctx, ids, []string{label}, []string{labelInbox})
	})
}

// Delete deletes messages permanently.
func (p Person) Delete(ctx context.Context, ids ...string) error {
	return p.write(ctx, func(ctx context.Context, tx queue.Tx) error {
		for _, id := range ids {
			if err := removeMessage(ctx, tx, p.account.id, id); err != nil {
				return named(id, err)
			}
		}
		return nil
	})
}

// RenameLabel renames a label, or returns [ErrNoLabel].
func (p Person) RenameLabel(ctx context.Context, name, newName string) error {
	return p.write(ctx, func(ctx context.Context, tx queue.Tx) error {
		label, err := p.labelNamed(ctx, tx, name)
		if err != nil {
			return err
		}
		label.Name = newName
		if err := label.checkName(ctx, tx); err != nil {
			return err
		}
		return label.update(ctx, tx)
	})
}

// DeleteLabel deletes the label with the name and removes it from all messages, or returns [ErrNoLabel].
func (p Person) DeleteLabel(ctx context.Context, name string) error {
	return p.write(ctx, func(ctx context.Context, tx queue.Tx) error {
		label, err := p.labelNamed(ctx, tx, name)
		if err != nil {
			return err
		}
		return removeLabel(ctx, tx, p.account, label.ID)
	})
}

func (p Person) change(ctx context.Context, ids, add, remove []string) error {
	return p.write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := checkChange(ctx, tx, p.account.id, add, remove); err != nil {
			return err
		}
		for _, id := range ids {
			if _, err := changeLabels(ctx, tx, p.account.id, id, add, remove); err != nil {
				return named(id, err)
			}
		}
		return nil
	})
}

// labelNamed returns the label, or ErrNoLabel.
func (p Person) labelNamed(ctx context.Context, tx queue.Tx, name string) (labelRow, error) {
	label, err := labelNamed(ctx, tx, p.account.id, name)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%w: %q", ErrNoLabel, name)
	}
	return label, err
}

func (p Person) withLabel(ctx context.Context, name string, do func(label string) error) error {
	var label string
	err := p.write(ctx, func(ctx context.Context, tx queue.Tx) (err error) {
		label, err = ensureLabel(ctx, tx, p.account.id, name)
		return err
	})
	if err != nil {
		return err
	}
	return do(label)
}

func (p Person) write(ctx context.Context, fn func(ctx context.Context, tx queue.Tx) error) error {
	if err := p.account.server.db.Write(ctx, fn); err != nil {
		return fmt.Errorf("gmailtest: person of %s: %w", p.account.email, err)
	}
	p.account.server.publisher.Wake()
	return nil
}

// named adds the id of the missing message to an error.
func named(id string, err error) error {
	if e, ok := errors.AsType[*wire.Error](err); ok && e.Status == http.StatusNotFound {
		return fmt.Errorf("%w: %s", ErrNoMessage, id)
	}
	return err
}
