package postroom

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The parameters of [Snooze].
const (
	paramUntil  = "until"
	paramWhen   = "when"
	paramAmount = "amount"
	paramUnits  = "units"
)

// maxSnooze is the longest snooze.
const maxSnooze = 365 * 24 * time.Hour

var snoozeUnits = map[string]time.Duration{"minutes": time.Minute, "hours": time.Hour, "days": 24 * time.Hour}

// snoozeKind has the effect of a snooze once package gmail has added the label as the parameter [ParamLabel].
var snoozeKind = Kind{
	Summary: "take the message out of the inbox until a time, when it comes back", Danger: Reversible, Job: ActionJob,
	Parameters: []Parameter{
		{Name: paramUntil, Type: TimeParameter, Summary: "when it comes back; or give when, or amount and units"},
		{Name: paramWhen, Type: TextParameter, Summary: "the same in words: " + whenForms},
		{
			Name: paramAmount, Type: IntegerParameter, Summary: "after how many units it comes back",
			Min: 1, Max: int64(maxSnooze / time.Minute),
		},
		{Name: paramUnits, Type: TextParameter, Summary: "the units of amount", Values: []string{"minutes", "hours", "days"}},
		{Name: "wake_on_reply", Type: BooleanParameter, Summary: "whether it also comes back when somebody answers"},
	},
	Example: Parameters{paramAmount: 3, paramUnits: "days"},
	Check: func(p Parameters, now time.Time) error {
		_, err := SnoozeUntil(p, now)
		return err
	},
	Effect: func(p Parameters) Effect {
		label, _ := p.Text(ParamLabel)
		return moveTo(label)
	},
}

// SnoozeUntil returns when a message that is snoozed at now comes back. The parameters are those of [Snooze]: one of
// until, when, and amount with units. The time must be after now and at most 365 days later; with a zero now, which is
// for a rule that was checked when it was written, until and the date in when may be any. Days, and the words of when,
// mean the time of day in the time zone of now.
//
// The words of when are, regardless of case, "tomorrow", a weekday or a date such as 2027-01-31, with a time such as
// 9:30 or one of morning (08:00), noon (12:00) and evening (18:00), else in the morning; or "in 3 hours", "in 2 days",
// "in 1 week". A weekday is the next one after today.
func SnoozeUntil(p Parameters, now time.Time) (time.Time, error) {
	_, hasUntil := p.Text(paramUntil)
	when, hasWhen := p.Text(paramWhen)
	units, hasUnits := p.Text(paramUnits)
	amount, hasAmount := p.Integer(paramAmount)
	hasAmounts := hasAmount || hasUnits
	switch {
	case hasUntil && (hasWhen || hasAmounts), hasWhen && hasAmounts, !hasUntil && !hasWhen && !hasAmounts:
		return time.Time{}, errors.New(`it needs one of "when", "until", and "amount" with "units"`)
	case hasUntil:
		until, ok := p.Time(paramUntil)
		if !ok {
			return until, errors.New(`"until" is not a time such as 2027-01-31T08:00:00Z`)
		}
		return checkUntil(until, now)
	case hasWhen:
		return readWhen(when, now)
	case !hasAmount || !hasUnits:
		return time.Time{}, errors.New(`it needs "amount" and "units" together`)
	}
	return afterAmount(now, amount, units)
}

// afterAmount returns the time that is the amount of units after now.
func afterAmount(now time.Time, amount int64, units string) (time.Time, error) {
	unit := snoozeUnits[units]
	if unit == 0 || amount < 1 || amount > int64(maxSnooze/unit) {
		return time.Time{}, fmt.Errorf("%d %s is not a time within 1 minute and 365 days", amount, units)
	}
	if units == "days" {
		return now.AddDate(0, 0, int(amount)), nil
	}
	return now.Add(time.Duration(amount) * unit), nil
}

func checkUntil(until, now time.Time) (time.Time, error) {
	switch {
	case now.IsZero():
		return until, nil
	case !until.After(now):
		return until, fmt.Errorf("%s is not in the future", until.Format(time.RFC3339))
	case until.After(now.Add(maxSnooze)):
		return until, fmt.Errorf("%s is more than 365 days ahead", until.Format(time.RFC3339))
	}
	return until, nil
}

// whenForms says what can be written as when.
const whenForms = `"tomorrow", a weekday or a date (2027-01-31), alone or with a time (9:30, morning, noon, evening); ` +
	`or "in" with a number of hours, days or weeks`

var (
	whenAfter = regexp.MustCompile(`^in (\d{1,4}) (hour|day|week)s?$`)
	whenDay   = regexp.MustCompile(`^(\S+)(?:(?: at)? (\d{1,2}:\d\d|morning|noon|evening))?$`)
)

// clockTimes are the times of day that have a name.
var clockTimes = map[string]string{"": "8:00", "morning": "8:00", "noon": "12:00", "evening": "18:00"}

func readWhen(words string, now time.Time) (time.Time, error) {
	text := strings.Join(strings.Fields(strings.ToLower(words)), " ")
	if after := whenAfter.FindStringSubmatch(text); after != nil {
		amount, _ := strconv.ParseInt(after[1], 10, 64)
		if after[2] == "week" {
			return afterAmount(now, 7*amount, "days")
		}
		return afterAmount(now, amount, after[2]+"s")
	}
	parts := whenDay.FindStringSubmatch(text)
	if parts == nil {
		return time.Time{}, unreadWhen(words)
	}
	day, ok := dayOf(parts[1], now)
	name := parts[2]
	if clock, named := clockTimes[name]; named {
		name = clock
	}
	clock, err := time.Parse("15:04", name)
	if !ok || err != nil {
		return time.Time{}, unreadWhen(words)
	}
	until := time.Date(day.Year(), day.Month(), day.Day(), clock.Hour(), clock.Minute(), 0, 0, now.Location())
	return checkUntil(until, now)
}

func unreadWhen(words string) error {
	return fmt.Errorf(`"when" is not a time: %q; write %s`, words, whenForms)
}

// dayOf returns the day that a word means.
func dayOf(word string, now time.Time) (time.Time, bool) {
	if word == "tomorrow" {
		return now.AddDate(0, 0, 1), true
	}
	for ahead := 1; ahead <= 7; ahead++ {
		if day := now.AddDate(0, 0, ahead); strings.ToLower(day.Weekday().String()) == word {
			return day, true
		}
	}
	day, err := time.Parse(time.DateOnly, word)
	return day, err == nil
}
