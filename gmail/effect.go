package gmail

import (
	"context"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
)

func remove(label string) postroom.LabelChange { return postroom.LabelChange{Remove: []string{label}} }

// needed returns the part of the change that the image does not have already.
func needed(change postroom.LabelChange, image postroom.Snapshot) postroom.LabelChange {
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

// applyChange makes a change that may include the trash and returns the labels of the message afterwards. It takes a message out of the
// trash first and puts it into the trash last, since both affect other labels. Each step can be repeated, and so can all of them.
func applyChange(ctx context.Context, c *gmailapi.Client, id string, change postroom.LabelChange) (postroom.Snapshot, error) {
	isTrash := func(l string) bool { return l == postroom.LabelTrash }
	trash, untrash := slices.ContainsFunc(change.Add, isTrash), slices.ContainsFunc(change.Remove, isTrash)
	rest := postroom.LabelChange{
		Add:    slices.DeleteFunc(slices.Clone(change.Add), isTrash),
		Remove: slices.DeleteFunc(slices.Clone(change.Remove), isTrash),
	}
	steps := []struct {
		wanted bool
		do     func() (postroom.Snapshot, error)
	}{
		{untrash, func() (postroom.Snapshot, error) { return c.Untrash(ctx, id) }},
		{!rest.IsZero(), func() (postroom.Snapshot, error) { return c.Modify(ctx, id, rest) }},
		{trash, func() (postroom.Snapshot, error) { return c.Trash(ctx, id) }},
		{change.IsZero(), func() (postroom.Snapshot, error) { return c.GetImage(ctx, id) }},
	}
	var image postroom.Snapshot
	touched := false
	for _, step := range steps {
		if !step.wanted {
			continue
		}
		var err error
		if image, err = step.do(); err != nil && !touched {
			err = untouched(err)
		}
		if err != nil {
			return image, err
		}
		touched = true
	}
	return image, nil
}
