package gmail

import (
	"context"
	"fmt"
	"slices"

	"github.com/postroom-go/postroom"
)

// An effect is the change of an action at Gmail and its inverse action.
type effect struct {
	change  postroom.LabelChange
	inverse postroom.ActionType
	params  postroom.Parameters
}

// plain are the actions without parameters. The trash is a label here; [Client.apply] knows how Gmail wants it changed.
var plain = map[postroom.ActionType]effect{
	postroom.Archive:    {remove(postroom.LabelInbox), postroom.ApplyLabel, labelParam(postroom.LabelInbox)},
	postroom.MarkRead:   {remove(postroom.LabelUnread), postroom.MarkUnread, nil},
	postroom.MarkUnread: {add(postroom.LabelUnread), postroom.MarkRead, nil},
	postroom.Star:       {add(postroom.LabelStarred), postroom.Unstar, nil},
	postroom.Unstar:     {remove(postroom.LabelStarred), postroom.Star, nil},
	postroom.Trash:      {add(postroom.LabelTrash), postroom.Restore, nil},
	postroom.Restore:    {remove(postroom.LabelTrash), postroom.Trash, nil},
	postroom.None:       {inverse: postroom.None},
}

// labelled are the actions that need a label.
var labelled = map[postroom.ActionType]func(label string) effect{
	postroom.ApplyLabel:  func(l string) effect { return effect{add(l), postroom.RemoveLabel, labelParam(l)} },
	postroom.RemoveLabel: func(l string) effect { return effect{remove(l), postroom.ApplyLabel, labelParam(l)} },
	postroom.Move:        moveTo,
}

func moveTo(label string) effect {
	e := effect{change: add(label), inverse: postroom.Move}
	e.params = postroom.Parameters{postroom.ParamLabel: postroom.LabelInbox, "remove_labels": []string{label}}
	if label != postroom.LabelInbox {
		e.change.Remove = []string{postroom.LabelInbox}
	}
	return e
}

// effectOf returns the effect of an action other than delete. Actions beyond [postroom.MailboxActions] are invalid.
func effectOf(a postroom.Action) (effect, error) {
	if e, ok := plain[a.Type]; ok {
		return e, nil
	}
	invalid := &Error{Op: "action " + a.ID, Class: ClassInvalid}
	with, ok := labelled[a.Type]
	if !ok {
		invalid.Err = fmt.Errorf("%s is not one of the actions that Gmail carries out: %v", a.Type, postroom.MailboxActions())
		return effect{}, invalid
	}
	label, ok := a.Parameters.Text(postroom.ParamLabel)
	if !ok {
		invalid.Err = fmt.Errorf("%s needs the parameter %q: the id of a label", a.Type, postroom.ParamLabel)
		return effect{}, invalid
	}
	return with(label), nil
}

func add(label string) postroom.LabelChange    { return postroom.LabelChange{Add: []string{label}} }
func remove(label string) postroom.LabelChange { return postroom.LabelChange{Remove: []string{label}} }

func labelParam(label string) postroom.Parameters {
	return postroom.Parameters{postroom.ParamLabel: label}
}

// needed returns the part of the change that the image does not have already.
func needed(change postroom.LabelChange, image postroom.Image) postroom.LabelChange {
	var out postroom.LabelChange
	for _, l := range change.Add {
		if !image.Has(l) {
			out.Add = append(out.Add, l)
		}
	}
	for _, l := range change.Remove {
		if image.Has(l) {
			out.Remove = append(out.Remove, l)
		}
	}
	return out
}

// apply makes a change that may include the trash and returns what the message carries then. Out of the trash comes
// first and into it last, since both have effects on other labels; each step can be repeated, and so can all of them.
func (c *Client) apply(ctx context.Context, id string, change postroom.LabelChange) (postroom.Image, error) {
	isTrash := func(l string) bool { return l == postroom.LabelTrash }
	trash, untrash := slices.ContainsFunc(change.Add, isTrash), slices.ContainsFunc(change.Remove, isTrash)
	rest := postroom.LabelChange{
		Add:    slices.DeleteFunc(slices.Clone(change.Add), isTrash),
		Remove: slices.DeleteFunc(slices.Clone(change.Remove), isTrash),
	}
	steps := []struct {
		wanted bool
		do     func() (postroom.Image, error)
	}{
		{untrash, func() (postroom.Image, error) { return c.Untrash(ctx, id) }},
		{!rest.IsZero(), func() (postroom.Image, error) { return c.Modify(ctx, id, rest) }},
		{trash, func() (postroom.Image, error) { return c.Trash(ctx, id) }},
		{change.IsZero(), func() (postroom.Image, error) { return c.GetImage(ctx, id) }},
	}
	var image postroom.Image
	for _, step := range steps {
		if !step.wanted {
			continue
		}
		var err error
		if image, err = step.do(); err != nil {
			return image, err
		}
	}
	return image, nil
}
