package postroom

import (
	"errors"
	"fmt"
	"time"
)

// The parameters of [Snooze].
const (
	paramUntil  = "until"
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
		{Name: paramUntil, Type: TimeParameter, Summary: "when it comes back; or give amount and units"},
		{Name: paramAmount, Type: IntegerParameter, Summary: "after how many units it comes back", Min: 1, Max: int64(maxSnooze / time.Minute)},
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

// SnoozeUntil returns when a message that is snoozed at now comes back. The parameters are those of [Snooze]: either until, or
// amount and units. The time must be after now and at most 365 days later; with a zero now, which is for a rule that was
// checked when it was written, until may be any time.
func SnoozeUntil(p Parameters, now time.Time) (time.Time, error) {
	_, hasUntil := p.Text(paramUntil)
	units, hasUnits := p.Text(paramUnits)
	amount, hasAmount := p.Integer(paramAmount)
	switch {
	case hasUntil == (hasAmount || hasUnits):
		return time.Time{}, errors.New(`it needs either "until" or "amount" with "units"`)
	case hasUntil:
		return checkUntil(p, now)
	case !hasAmount || !hasUnits:
		return time.Time{}, errors.New(`it needs "amount" and "units" together`)
	}
	unit := snoozeUnits[units]
	if unit == 0 || amount < 1 || amount > int64(maxSnooze/unit) {
		return time.Time{}, fmt.Errorf("%d %s is not a time within 1 minute and 365 days", amount, units)
	}
	return now.Add(time.Duration(amount) * unit), nil
}

func checkUntil(p Parameters, now time.Time) (time.Time, error) {
	until, ok := p.Time(paramUntil)
	switch {
	case !ok:
		return until, errors.New(`"until" is not a time such as 2027-01-31T08:00:00Z`)
	case now.IsZero():
		return until, nil
	case !until.After(now):
		return until, fmt.Errorf("%s is not in the future", until.Format(time.RFC3339))
	case until.After(now.Add(maxSnooze)):
		return until, fmt.Errorf("%s is more than 365 days ahead", until.Format(time.RFC3339))
	}
	return until, nil
}

// A WakeUp is the change with which the end of a snooze has put the message back.
type WakeUp struct {
	// Turn is the place of the wake-up among the actions of the message; see package safety.
	Turn int64 `json:"turn"`
	// Before is the message before the first attempt to wake it, After the message as the wake-up left it.
	Before Snapshot `json:"before"`
	After  Snapshot `json:"after"`
	// Change is the wake-up's own change, even if the message already had or lacked the labels.
	Change LabelChange `json:"change"`
}

// A Sleep is what the ledger knows of a snooze whose message is to be woken.
type Sleep struct {
	// Turn is the place of the wake-up among the actions of the message.
	Turn int64
	// Over reports that there is nothing to wake: the snooze has been undone, or a wake-up has woken the message since.
	Over bool
	// Later lists the snoozes of the message that were executed after this one and still count, in order. The last of them says
	// when the message wakes, sooner or later than this one.
	Later []string
}
