package tasks

import (
	"context"
	"errors"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

var errNoStore = queue.Fatal(errors.New("tasks: the kind is one of a nil Store, which keeps no tasks; take that of a " +
	"Store made by New"))

// Kind returns the kind of action that makes a task. That of a nil Store describes the action, for programs that only
// read rules.
func (s *Store) Kind() postroom.Kind {
	k, _ := postroom.StandardKind(postroom.CreateTask)
	k.Handler, k.Undo = s.create, s.remove
	return k
}

// create makes the task of an action when the action completes.
func (s *Store) create(_ context.Context, _ postroom.Run, a postroom.Action) (postroom.Outcome, error) {
	if s == nil {
		return postroom.Outcome{}, errNoStore
	}
	title, _ := a.Parameters.Text("title")
	notes, _ := a.Parameters.Text("notes")
	due, _ := a.Parameters.Time("due")
	return postroom.Outcome{Commit: func(ctx context.Context, tx postroom.Tx) error {
		_, err := dbquery.Exec(ctx, tx, sqlInsert, a.ID, a.AccountID, a.MessageID, title, notes, dbtime.Of(due),
			dbtime.Of(s.now()))
		if err != nil {
			return fmt.Errorf("tasks: store the task of action %s: %w", a.ID, err)
		}
		return nil
	}}, nil
}

// remove removes the task of an action when its undo completes.
func (s *Store) remove(_ context.Context, _ postroom.Run, a postroom.Action) (postroom.Commit, error) {
	if s == nil {
		return nil, errNoStore
	}
	return func(ctx context.Context, tx postroom.Tx) error {
		if _, err := dbquery.Exec(ctx, tx, sqlDelete, a.ID); err != nil {
			return fmt.Errorf("tasks: remove the task of action %s: %w", a.ID, err)
		}
		return nil
	}, nil
}
