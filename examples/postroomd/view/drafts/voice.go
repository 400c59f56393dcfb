package drafts

import (
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/voice"
)

// A Voice is how the owner of a mailbox writes, as the model that writes drafts reads it.
type Voice struct {
	Mailbox   string    `json:"mailbox"`
	Text      string    `json:"text"`
	EditedBy  string    `json:"edited_by,omitempty" jsonschema:"who has edited it; left out if it is as it was learned"`
	Version   int64     `json:"version"             jsonschema:"names what was shown, for a change"`
	Mails     int       `json:"mails"               jsonschema:"how many sent mails it was learned from"`
	Lessons   []Lesson  `json:"lessons,omitempty"   jsonschema:"what was changed in drafts, for the next time"`
	Note      string    `json:"note,omitempty"      jsonschema:"why nothing was learned at the last attempt"`
	ChangedAt time.Time `json:"changed_at,omitzero"`
}

// A Lesson is what a person has changed in a draft before sending it.
type Lesson struct {
	Removed []string  `json:"removed,omitempty"`
	Added   []string  `json:"added,omitempty"`
	At      time.Time `json:"at"`
}

// NewVoice reads how the owner of a mailbox writes.
func NewVoice(ctx context.Context, h *app.App, account *mailstore.Account) (v Voice, err error) {
	service, err := h.VoiceService()
	if err != nil {
		return v, err
	}
	p, err := service.Profile(ctx, account.ID)
	if err != nil {
		return v, err
	}
	lessons, err := service.Lessons(ctx, account.ID)
	v = Voice{Mailbox: account.Email, Text: p.Text, EditedBy: p.EditedBy, Version: p.Version, Mails: p.Mails, Note: p.Note,
		ChangedAt: p.ChangedAt}
	for _, l := range lessons {
		v.Lessons = append(v.Lessons, Lesson(l))
	}
	return v, err
}

// versionLine begins a text for a file to edit.
const versionLine = "# version "

// File returns the text for a file to edit, whose first line names the version.
func (v Voice) File() string {
	return versionLine + strconv.FormatInt(v.Version, 10) + "\n" + printer.PrintableLines(v.Text) + "\n"
}

// ReadVoiceFile reads what a person has made of [Voice.File].
func ReadVoiceFile(file string) (version int64, text string, err error) {
	first, text, _ := strings.Cut(file, "\n")
	number, found := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(first, "\ufeff")), versionLine)
	if version, err = strconv.ParseInt(number, 10, 64); !found || err != nil || version < 0 {
		return 0, "", usage.Errorf("the first line does not name what was edited: it must be \"%sN\", as 'postroomd drafts "+
			"voice show --text' prints it", versionLine)
	}
	return version, text, nil
}

// Most is the most characters of a text.
func (v Voice) Most() int { return voice.MaxProfile }

// Print prints it for people.
func (v Voice) Print(w io.Writer) error {
	r := printer.NewReport(w)
	r.Heading("how " + v.Mailbox + " writes")
	switch {
	case v.EditedBy != "":
		r.Add("edited by", v.EditedBy)
	case v.Text != "":
		r.Add("learned from", printer.Count(v.Mails, "sent mail", "sent mails"))
	default:
		r.Line("Nothing was learned yet.")
	}
	if !v.ChangedAt.IsZero() {
		r.Add("since", printer.Clock(v.ChangedAt))
	}
	r.Add("version", strconv.FormatInt(v.Version, 10))
	r.Add("note", v.Note)
	if v.Text != "" {
		r.Quote(v.Text)
	}
	for i, l := range v.Lessons {
		if i == 0 {
			r.Heading("what was changed in drafts")
		}
		r.Add("taken out", strings.Join(l.Removed, " "))
		r.Add("put in", strings.Join(l.Added, " "))
	}
	return r.Flush()
}
