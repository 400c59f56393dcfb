package away

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtime"
)

// An Audience says who is answered.
type Audience string

// The audiences.
const (
	Everybody Audience = "everybody"
	Known     Audience = "known" // those to whom the owner has written before
)

// Bounds of an [Absence].
const (
	MaxText = 8 << 10 // bytes
	MaxDays = 90
	// MinDays is the default of [outbox.Config].ReplyInterval, within which nobody gets a second automatic answer.
	MinDays = 3
	// Longest is how far ahead an absence may end.
	Longest = 365 * 24 * time.Hour
)

// An Absence is a time in which the owner of a mailbox does not answer.
type Absence struct {
	ID        string // set by [Service.Set]: another one each time
	AccountID string
	// From and Until are when it begins and ends; Until is the first instant after it. A zero From is now.
	From, Until time.Time
	// Text is the answer. It may have the variables of [postroom.Variables], those that are not known of each message
	// with words for this, and [postroom.VarUntil], which Set replaces.
	Text string
	// Days is how long a sender gets no second answer, from MinDays to MaxDays. Default 0: the whole absence.
	Days int
	// Audience says who is answered. Default [Everybody].
	Audience Audience
	SetBy    string // who has set it

	Since   time.Time // when it was switched on
	SetAt   time.Time
	EndedAt time.Time // zero unless somebody has ended it
	EndedBy string
}

// On reports whether mail that comes now is answered.
func (a *Absence) On(now time.Time) bool {
	return a.EndedAt.IsZero() && !now.Before(a.From) && now.Before(a.Until)
}

// Over reports whether the absence has ended, by its date or by somebody's word.
func (a *Absence) Over(now time.Time) bool { return !a.EndedAt.IsZero() || !now.Before(a.Until) }

// LastDay returns the last day of the absence, in the zone of the machine.
func (a *Absence) LastDay() string { return a.Until.Add(-1).Local().Format(time.DateOnly) }

// prepare checks what a person has said, and fills in the defaults.
func (a *Absence) prepare(now time.Time) error {
	if a.From.IsZero() || a.From.Before(now) {
		a.From = now
	}
	if a.Audience == "" {
		a.Audience = Everybody
	}
	a.From, a.Until, a.EndedAt, a.EndedBy = dbtime.Truncate(a.From), dbtime.Truncate(a.Until), time.Time{}, ""
	faults := []error{a.checkTime(now), a.checkText()}
	if a.AccountID == "" {
		faults = append(faults, errors.New("it names no mailbox"))
	}
	if a.Days != 0 && (a.Days < MinDays || a.Days > MaxDays) {
		faults = append(faults, fmt.Errorf("a sender is answered again after %d days; say %d to %d, or 0 for never in this "+
			"absence", a.Days, MinDays, MaxDays))
	}
	if a.Audience != Everybody && a.Audience != Known {
		faults = append(faults, fmt.Errorf("the audience is %q; say %s or %s", a.Audience, Everybody, Known))
	}
	if strings.TrimSpace(a.SetBy) == "" {
		faults = append(faults, errors.New("it is not said who is away"))
	}
	return errors.Join(faults...)
}

func (a *Absence) checkTime(now time.Time) error {
	switch {
	case a.Until.IsZero():
		return errors.New("it has no end; say its last day")
	case !a.Until.After(now):
		return fmt.Errorf("its last day, %s, has passed", a.LastDay())
	case !a.Until.After(a.From):
		return fmt.Errorf("it ends on %s, before it begins on %s", a.LastDay(), a.From.Local().Format(time.DateOnly))
	case a.Until.Sub(now) > Longest:
		return fmt.Errorf("it ends on %s, more than %d days ahead", a.LastDay(), Longest/(24*time.Hour))
	}
	return nil
}

func (a *Absence) checkText() error {
	switch text := strings.TrimSpace(a.Text); {
	case text == "":
		return errors.New("it has no text to answer with")
	case len(text) > MaxText:
		return fmt.Errorf("the text has %d bytes; at most %d are allowed", len(text), MaxText)
	}
	if err := postroom.CheckVariables(a.Text, postroom.VarUntil); err != nil {
		return fmt.Errorf("the text: %w", err)
	}
	if err := checkFilled(a.Text); err != nil {
		return fmt.Errorf("the text: %w", err)
	}
	a.Text = strings.ReplaceAll(strings.TrimSpace(a.Text), "\r\n", "\n")
	a.Text = postroom.FillSome(a.Text, map[postroom.Variable]string{postroom.VarUntil: a.LastDay()})
	return nil
}

// checkFilled returns an error for a text that would not be sent about some mail, since a variable is not known of it,
// and for one that would be sent with braces. The owner may have no name at Gmail either.
func checkFilled(text string) error {
	var lacks []postroom.Variable
	always := map[postroom.Variable]string{postroom.VarUntil: "day", postroom.VarDate: "day"}
	filled := postroom.FillVariables(text, always, func(v postroom.Variable) string {
		lacks = append(lacks, v)
		return ""
	})
	switch {
	case len(lacks) > 0:
		return fmt.Errorf("{{%s}} is not always known; write {{%[1]s|…}}, with the words for where it is not", lacks[0])
	case strings.Contains(filled, "{{") || strings.Contains(filled, "}}"):
		return errors.New("it has {{ or }} that belong to no variable, and would be sent so; take them out, or close them")
	}
	return nil
}
