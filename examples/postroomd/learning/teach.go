package learning

import (
	"context"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
)

// A Lesson is what a person says from one message about all such mail.
type Lesson string

// The lessons.
const (
	Always Lesson = "always" // do this
	Never  Lesson = "never"  // leave it alone
)

// A Wish is a lesson from a message.
type Wish struct {
	Message string              // its id, or as much of it as is unique
	Lesson  Lesson              // always or never
	Action  postroom.ActionType // of Always; empty: what has become of the message
	Label   string              // the name of that of the action
}

// A Taught is the proposal of a rule, which waits for a person.
type Taught struct {
	Session string   `json:"session"` // of the page Assistant, and of 'postroomd rules chat'
	Number  int      `json:"number"`  // of the proposal in it
	Rule    string   `json:"rule"`    // its name
	Changes []string `json:"changes"` // each rule that would change, as the lines of a difference
	Tried   int      `json:"tried"`   // messages of the last 90 days that it was tried on
	Differs int      `json:"differs"` // those of them about which it decides otherwise than the rules in use
}

// Teach proposes a rule from a message. What cannot be taught is a [usage.Error].
func Teach(ctx context.Context, h *app.App, account mailstore.Account, w Wish, by string) (Taught, error) {
	switch w.Lesson {
	case Always:
		if w.Action == "" && w.Label != "" {
			return Taught{}, usage.Errorf("a label is that of an action: name the action as well, such as move")
		}
	case Never:
		if w.Action != "" || w.Label != "" {
			return Taught{}, usage.Errorf("what is never done has no action and no label: such mail is left alone")
		}
		w.Action = postroom.None
	default:
		return Taught{}, usage.Errorf("%q is no lesson: always or never", string(w.Lesson))
	}
	m, err := h.FindMessage(ctx, account, w.Message)
	if err != nil {
		return Taught{}, err
	}
	t, err := h.Teach(ctx, account, m, w.Action, w.Label, by)
	if err != nil {
		return Taught{}, err
	}
	return Taught{Session: t.Session, Number: 1, Rule: t.Rule, Changes: t.Changes, Tried: t.Tried.Messages,
		Differs: t.Tried.Changed}, nil
}
