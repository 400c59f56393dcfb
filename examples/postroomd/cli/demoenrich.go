package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/learning"
	"github.com/postroom-go/postroom/examples/postroomd/mailsource"
	"github.com/postroom-go/postroom/examples/postroomd/scripted"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/rules/lessons"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// checkEnrich returns an error if the demo cannot find out what its mail means: the script knows that of the sample
// alone, and it is found out as mail comes.
func (o *demoOptions) checkEnrich(f environment.Folder, from *mailsource.Source) error {
	switch {
	case !o.enrich:
		return nil
	case !from.IsSample():
		return usage.Errorf("--enrich shows the sample mailbox, and this demo has %s; for mail of yours set enrich.enabled "+
			"in the configuration of 'postroomd run'", from)
	case !from.Remembered:
		return nil
	}
	switch day, err := enrichedOn(f); {
	case err != nil:
		return err
	case day.IsZero():
		return usage.Errorf("--data %s holds a demo that was sorted without --enrich; name another folder", string(f))
	}
	return nil
}

// giveMeaning prepares the folder of a demo that finds out what mail means, before its configuration is read. It
// returns the day for [sample.WithSchool]; zero if the folder is of another demo.
func (o *demoOptions) giveMeaning(f environment.Folder) (time.Time, error) {
	day, err := enrichedOn(f)
	if err != nil || !day.IsZero() || !o.enrich {
		return day, err
	}
	day = time.Now().UTC().Truncate(24 * time.Hour)
	draft := f.Enriched() + ".new"
	err = errors.Join(os.MkdirAll(f.Notes(), 0o700), os.MkdirAll(f.Calendar(), 0o700),
		os.WriteFile(draft, []byte(day.Format(time.DateOnly)+"\n"), 0o600))
	if err != nil {
		return day, err
	}
	return day, os.Rename(draft, f.Enriched())
}

// enrichedOn is when the folder was prepared; zero if it was not.
func enrichedOn(f environment.Folder) (time.Time, error) {
	text, err := os.ReadFile(f.Enriched())
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	day, err := time.Parse(time.DateOnly, strings.TrimSpace(string(text)))
	if err != nil {
		return day, fmt.Errorf("%s holds no day: %w; name another folder with --data", f.Enriched(), err)
	}
	return day, nil
}

// withMeaning adds to the rules those that were learned and accepted in the folder and, to the sample rules, those
// that keep notes.
func withMeaning(ctx context.Context, h *app.App, file *rulesfile.File, isSample bool) (*rulesfile.File, error) {
	kinds := rulesfile.WithKinds(h.Env.ActionKinds())
	both := *file
	if isSample {
		notes, err := rulesfile.Parse("noterules.yaml", bytes.NewReader(scripted.NoteRules), kinds)
		if err != nil {
			return nil, err
		}
		both.Rules = slices.Concat(notes.Rules, both.Rules)
	}
	accounts, err := h.Mail.Accounts(ctx)
	if err != nil {
		return nil, err
	}
	for i := range accounts {
		learned, err := h.Lessons.Learned(ctx, accounts[i].ID)
		if err != nil {
			return nil, err
		}
		for k := range learned {
			if learned[k].State != lessons.Accepted {
				continue
			}
			rule, err := rulesfile.Parse(learned[k].Name, strings.NewReader(learned[k].Text), kinds)
			if err != nil {
				return nil, err
			}
			both.Rules = slices.Concat(both.Rules, rule.Rules)
		}
	}
	return &both, nil
}

// schoolLabel is where the demo moves the letters of the school, as their reader would.
const schoolLabel = "Family"

// teach does to the letters of the school what a person does by hand, and has the demo learn from it. Letters that a
// person has read or moved meanwhile are left alone.
func (d *demoRun) teach(ctx context.Context) error {
	found, err := d.App.Mail.Search(ctx, d.Mailboxes[0], mailindex.Search{
		Query: "from:" + sample.School + " in:inbox is:unread", Limit: 100})
	if err != nil {
		return err
	}
	var ids []string
	for _, m := range found.Messages {
		ids = append(ids, m.ProviderID)
	}
	if len(ids) > 0 {
		if err := d.App.Server.Person().MoveTo(ctx, schoolLabel, ids...); err != nil {
			return err
		}
		if err := d.Again(ctx); err != nil {
			return err
		}
	}
	account, err := d.App.Mail.Account(ctx, d.Mailboxes[0])
	if err == nil {
		_, err = learning.Run(ctx, d.App, account)
	}
	return err
}
