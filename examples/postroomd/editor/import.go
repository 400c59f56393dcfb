package editor

import (
	"context"

	"github.com/postroom-go/postroom/examples/postroomd/ruledraft"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// An Import is the rules of a mailbox with those that were made of other filters. It is not saved.
type Import struct {
	ruledraft.Import

	Before string                   // the text of the rules that are there
	Lost   []rulesfile.Untranslated // what rules cannot say
}

// Import adds the rules that are made of other filters, Gmail's or those in Sieve, to the rules of a mailbox. Filters
// of which no rule can be made are a [usage.Error]; Lost says why all the same. parse reads the rules that are there.
func (e *Editor) Import(ctx context.Context, account mailstore.Account, filters string,
	parse func(before string) (*rulesfile.File, error)) (i Import, err error) {
	translation, err := ruledraft.Translate(filters, account.Email, e.env.ActionKinds())
	if err != nil {
		return i, err
	}
	i.Lost = translation.Untranslated
	path, err := e.Path(ctx, account.ID)
	if err != nil {
		return i, err
	}
	if i.Before, err = e.Text(ctx, account.ID); err != nil {
		return i, err
	}
	file, err := parse(i.Before)
	if err == nil && i.Before == "" {
		file, err = e.Written(path, i.Before)
	}
	if err != nil {
		return i, usage.Errorf("The rules that are there have a fault, which is to be mended first: %w", err)
	}
	i.Import, err = ruledraft.AddTranslation(file, translation, e.Options(path)...)
	switch {
	case err != nil:
	case len(i.Taken) == 0 && len(i.Known) > 0:
		err = usage.Errorf("All of it that rules can say is among your rules already.")
	case len(i.Taken) == 0:
		err = usage.Errorf("No rule can be made of it.")
	}
	return i, err
}
