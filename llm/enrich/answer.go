package enrich

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// answerJSON is what a model says.
type answerJSON struct {
	Category *struct {
		Name       string   `json:"name"`
		Confidence *float64 `json:"confidence"`
		Reasoning  string   `json:"reasoning"`
	} `json:"category"`
	Importance *struct {
		Level       string       `json:"level"`
		Score       *float64     `json:"score"`
		Confidence  *float64     `json:"confidence"`
		Reasoning   string       `json:"reasoning"`
		ActionItems []ActionItem `json:"action_items"`
	} `json:"importance"`
	Calendar *struct {
		Confidence *float64    `json:"confidence"`
		Reasoning  string      `json:"reasoning"`
		Events     []eventJSON `json:"events"`
	} `json:"calendar"`
}

// An eventJSON has what a model may say of an event: it is no calendar, and has no UID.
type eventJSON struct {
	Title     string   `json:"title"`
	Start     string   `json:"start"`
	End       string   `json:"end"`
	Zone      string   `json:"zone"`
	Place     string   `json:"place"`
	Attendees []string `json:"attendees"`
}

// read reads the answer of a model to a question about open stages. It returns those facts that can be used, and an
// error that says what is wrong with the others.
func (s *Service) read(raw json.RawMessage, open []Stage) (f Facts, err error) {
	var answer answerJSON
	if err := json.Unmarshal(raw, &answer); err != nil {
		return f, fmt.Errorf("the answer is not of the schema: %w", err)
	}
	var faults []error
	for _, stage := range open {
		if err := s.readStage(&f, &answer, stage); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", stage, err))
		}
	}
	return f, errors.Join(faults...)
}

var errMissing = errors.New("it is missing, or has no confidence from 0 to 1")

func (s *Service) readStage(f *Facts, answer *answerJSON, stage Stage) error {
	switch stage {
	case StageCategory:
		a := answer.Category
		if a == nil || !given(a.Confidence) {
			return errMissing
		}
		name, ok := s.cfg.category(a.Name)
		if !ok {
			return fmt.Errorf("%q is none of the categories", a.Name)
		}
		f.Category, f.CategoryTold = name, Told{ByModel, *a.Confidence, a.Reasoning}
	case StageImportance:
		a := answer.Importance
		if a == nil || !given(a.Confidence) || !given(a.Score) {
			return errMissing
		}
		level, ok := s.cfg.levelNamed(a.Level)
		if !ok {
			return fmt.Errorf("%q is none of the levels", a.Level)
		}
		items, err := readItems(a.ActionItems)
		if err != nil {
			return err
		}
		f.Level, f.Score, f.ActionItems = level.Name, *a.Score, items
		f.ImportanceTold = Told{ByModel, *a.Confidence, a.Reasoning}
	case StageCalendar:
		a := answer.Calendar
		if a == nil || !given(a.Confidence) {
			return errMissing
		}
		events, err := readEvents(a.Events)
		if err != nil {
			return err
		}
		f.Events, f.CalendarTold = events, Told{ByModel, *a.Confidence, a.Reasoning}
	case StageUnsubscribe: // is not asked
	}
	return nil
}

func given(unit *float64) bool { return unit != nil && isUnit(*unit) }

func readItems(list []ActionItem) (items []ActionItem, err error) {
	for _, item := range list[:min(len(list), maxItems)] {
		item.Text, item.Due = bounded(item.Text, maxText), strings.TrimSpace(item.Due)
		switch {
		case item.Text == "":
			return nil, errors.New("an action item has no text")
		case item.Due != "" && !isTime(item.Due):
			return nil, fmt.Errorf("the due time %q is neither a day nor a time", bounded(item.Due, maxText))
		}
		items = append(items, item)
	}
	return items, nil
}

func readEvents(list []eventJSON) (events []Event, err error) {
	for _, said := range list[:min(len(list), maxEvents)] {
		e := Event{Title: bounded(said.Title, maxText), Start: strings.TrimSpace(said.Start),
			End: strings.TrimSpace(said.End), Zone: strings.TrimSpace(said.Zone), Place: bounded(said.Place, maxText)}
		switch {
		case e.Title == "":
			return nil, errors.New("an event has no title")
		case !isTime(e.Start) || e.End != "" && !isTime(e.End):
			return nil, fmt.Errorf("an event lasts from %q to %q, which are not times", bounded(e.Start, maxText),
				bounded(e.End, maxText))
		case e.End != "" && len(e.End) == len(e.Start) && e.End < e.Start: // of one form, whose order is that of time
			return nil, fmt.Errorf("an event ends at %s, before it begins at %s", e.End, e.Start)
		case !isZone(e.Zone):
			return nil, fmt.Errorf("%q is no time zone; write one such as Europe/Berlin, or none", bounded(e.Zone, maxText))
		}
		for _, a := range said.Attendees[:min(len(said.Attendees), maxAttendees)] {
			if a = bounded(a, maxText); a != "" {
				e.Attendees = append(e.Attendees, a)
			}
		}
		events = append(events, e)
	}
	return events, nil
}

func isZone(name string) bool {
	if name == "Local" { // which LoadLocation takes for that of this machine
		return false
	}
	_, err := time.LoadLocation(name)
	return err == nil
}
