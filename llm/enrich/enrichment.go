package enrich

import (
	"slices"
	"time"
)

// A Stage is a part of the enrichment of a message.
type Stage string

// The stages, in their order.
const (
	StageCategory    Stage = "category"
	StageImportance  Stage = "importance"
	StageCalendar    Stage = "calendar"
	StageUnsubscribe Stage = "unsubscribe"
)

// Stages returns all stages in their order.
func Stages() []Stage {
	return []Stage{StageCategory, StageImportance, StageCalendar, StageUnsubscribe}
}

// A State is how far the enrichment of a message is.
type State string

// The states, in the order of the work; the last three are final.
const (
	StateFetched           State = "fetched"            // its job is enqueued
	StateProcessing        State = "processing"         // its job has begun
	StateCategorized       State = "categorized"        // the category stands
	StateImportanceChecked State = "importance_checked" // and the importance
	StateCalendarExtracted State = "calendar_extracted" // and the events
	StateEnriched          State = "enriched"           // all stages have ended, and the job has not
	StatePendingApproval   State = "pending_approval"   // a person may answer what is unsure; nothing waits for that
	StateCompleted         State = "completed"
	StateDeadLetter        State = "dead_letter" // a stage has failed for good; what the others have found stands
)

// Ended reports whether no stage is open: the state is final.
func (s State) Ended() bool {
	return s == StatePendingApproval || s == StateCompleted || s == StateDeadLetter
}

// By names who has told the result of a stage.
type By string

// Who tells results.
const (
	ByForm     By = "form"     // header fields, Gmail's categories, lists: no model was asked
	ByHost     By = "host"     // [Config].First
	ByCalendar By = "calendar" // a calendar in the message
	ByText     By = "text"     // a date and a time in the text, without a model
	ByModel    By = "model"
	ByPerson   By = "person"
	ByNone     By = "none" // nobody: the form does not tell it, and no model is asked
)

// A Told says by whom, and why, the result of a stage is what it is. The zero Told is that of an open stage, or of one
// that is switched off.
type Told struct {
	By         By      `json:"by"`
	Confidence float64 `json:"confidence"` // from 0 to 1; a person's is 1
	Reasoning  string  `json:"reasoning"`
}

// An ActionItem is something that a message asks its reader to do.
type ActionItem struct {
	Text string `json:"text"`
	// Due is the last day, as 2006-01-02, or the last minute, as 2006-01-02T15:04; empty if the message says none.
	Due string `json:"due,omitempty"`
}

// An Event is an appointment that a message names.
type Event struct {
	UID   string `json:"uid,omitempty"` // of a calendar's
	Title string `json:"title"`
	// Start and End are a day, as 2006-01-02, which an all-day event has, or a minute, as 2006-01-02T15:04, in Zone. End
	// is after the last moment; empty if it is unknown.
	Start string `json:"start"`
	End   string `json:"end,omitempty"`
	// Zone is a name such as Europe/Berlin; empty if the message does not say.
	Zone      string   `json:"zone,omitempty"`
	Place     string   `json:"place,omitempty"`
	Attendees []string `json:"attendees,omitempty"` // names or addresses, as the message has them
	// Repeats reports that a calendar has it at other times, too: Start and End are those of the first.
	Repeats bool `json:"repeats,omitempty"`
	// Canceled reports that a calendar calls the event off.
	Canceled bool `json:"canceled,omitempty"`
}

// An Unsubscribe is the way to leave the list of a message. It is the sender's claim; package gmail/unsubscribe says
// which one may be taken.
type Unsubscribe struct {
	Method string `json:"method"` // one_click, web or mail; empty if there is none
	URL    string `json:"url"`
}

// A Denial is what a person has rejected, and why.
type Denial struct {
	Value string `json:"value"` // what was found
	Why   string `json:"why"`
	By    string `json:"by"` // the name of the person
}

// An Enrichment is what is known of one message.
type Enrichment struct {
	AccountID  string
	MessageID  string
	ReceivedAt time.Time // the message
	State      State

	Category     string // one of [Config].Categories; empty while it is open, or nobody could tell
	CategoryTold Told

	Level          string  // one of [Config].Levels; empty like Category
	Score          float64 // from 0 to 1
	ActionItems    []ActionItem
	ImportanceTold Told

	Events       []Event
	CalendarTold Told

	Unsubscribe Unsubscribe

	// Faults are the stages that have failed for good, with the reasons. Denials are the results that a person has
	// rejected: such a stage is asked about once more.
	Faults  map[Stage]string
	Denials map[Stage]Denial
	// Unsure are the stages whose confidence is below [Config].SureFrom, and that a person may answer.
	Unsure []Stage

	// ProcessingTime is how long its jobs worked on it, waits for a model included; Calls how often a model answered,
	// and Tokens what these answers used, that of the call that decided about the message included.
	ProcessingTime time.Duration
	Calls          int
	Tokens         int

	CreatedAt time.Time
	UpdatedAt time.Time
	EndedAt   time.Time // when its last job ended; zero before the first has

	answer string
}

// Told returns who has told the result of a stage; the zero Told for [StageUnsubscribe], which the header tells.
func (e *Enrichment) Told(s Stage) Told {
	if told := e.told(s); told != nil {
		return *told
	}
	return Told{}
}

func (e *Enrichment) told(s Stage) *Told {
	switch s {
	case StageCategory:
		return &e.CategoryTold
	case StageImportance:
		return &e.ImportanceTold
	case StageCalendar:
		return &e.CalendarTold
	default:
		return nil
	}
}

// HasEnded reports whether the stage has a result, one that nobody can be sure about included, or has failed for good.
func (e *Enrichment) HasEnded(s Stage) bool { return e.Told(s).By != "" || e.Faults[s] != "" }

// Stands reports whether the stage has a result to act on: somebody has told it, and is sure.
func (e *Enrichment) Stands(s Stage) bool {
	by := e.Told(s).By
	return by != "" && by != ByNone && !slices.Contains(e.Unsure, s)
}

// Value returns the result of a stage in a few words.
func (e *Enrichment) Value(s Stage) string {
	switch s {
	case StageCategory:
		return e.Category
	case StageImportance:
		return e.Level
	case StageCalendar:
		if len(e.Events) == 0 {
			return "no event"
		}
		return e.Events[0].Title + " (" + e.Events[0].Start + ")"
	default:
		return e.Unsubscribe.Method
	}
}

// open returns those of the stages that have no result yet.
func (e *Enrichment) open(of []Stage) []Stage {
	return slices.DeleteFunc(slices.Clone(of), func(s Stage) bool { return e.told(s) == nil || e.HasEnded(s) })
}

// settle brings Unsure and State up to date with the results of the stages that are switched on.
func (e *Enrichment) settle(stages []Stage, sureFrom float64) {
	e.Unsure = nil
	for _, s := range stages {
		told := e.Told(s)
		if told.By != "" && told.By != ByNone && told.By != ByPerson && told.Confidence < sureFrom {
			e.Unsure = append(e.Unsure, s)
		}
	}
	e.State = StateProcessing
	for _, s := range stages {
		if len(e.open([]Stage{s})) > 0 {
			return
		}
		switch s {
		case StageCategory:
			e.State = StateCategorized
		case StageImportance:
			e.State = StateImportanceChecked
		case StageCalendar:
			e.State = StateCalendarExtracted
		case StageUnsubscribe: // has no state of its own
		}
	}
	e.State = StateEnriched
}

// end sets the final state, when no stage is open.
func (e *Enrichment) end(now time.Time) {
	e.EndedAt = now
	switch {
	case len(e.Faults) > 0:
		e.State = StateDeadLetter
	case len(e.Unsure) > 0:
		e.State = StatePendingApproval
	default:
		e.State = StateCompleted
	}
}
