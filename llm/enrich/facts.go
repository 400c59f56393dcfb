package enrich

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/postroom-go/postroom/internal/dbvalue"
)

// Facts are results of stages. A part whose Told is zero says nothing.
type Facts struct {
	Category     string
	CategoryTold Told

	Level          string
	Score          float64
	ActionItems    []ActionItem
	ImportanceTold Told

	Events       []Event
	CalendarTold Told
}

func (f *Facts) told(s Stage) Told {
	switch s {
	case StageCategory:
		return f.CategoryTold
	case StageImportance:
		return f.ImportanceTold
	case StageCalendar:
		return f.CalendarTold
	default:
		return Told{}
	}
}

// apply puts the result of a stage into the enrichment, with texts in bounds.
func (f *Facts) apply(e *Enrichment, s Stage) {
	told := f.told(s)
	told.Reasoning = bounded(told.Reasoning, maxReasoning)
	switch s {
	case StageCategory:
		e.Category, e.CategoryTold = f.Category, told
	case StageImportance:
		e.Level, e.Score, e.ActionItems, e.ImportanceTold = f.Level, f.Score, f.ActionItems, told
	case StageCalendar:
		e.Events, e.CalendarTold = f.Events, told
	case StageUnsubscribe: // the header tells it
	}
}

// merge takes from another what this one does not tell.
func (f *Facts) merge(other Facts) {
	if f.CategoryTold.By == "" {
		f.Category, f.CategoryTold = other.Category, other.CategoryTold
	}
	if f.ImportanceTold.By == "" {
		f.Level, f.Score, f.ActionItems, f.ImportanceTold = other.Level, other.Score, other.ActionItems, other.ImportanceTold
	}
	if f.CalendarTold.By == "" {
		f.Events, f.CalendarTold = other.Events, other.CalendarTold
	}
}

// check returns an error for facts of a host that are not the owner's.
func (c *Config) checkFirst(f *Facts) error {
	if f.CategoryTold.By != "" {
		name, ok := c.category(f.Category)
		if !ok {
			return fmt.Errorf("llm/enrich: Config.First: %q is no category of the owner", f.Category)
		}
		f.Category, f.CategoryTold.By = name, ByHost
	}
	if f.ImportanceTold.By != "" {
		level, ok := c.levelNamed(f.Level)
		if !ok || !isUnit(f.Score) {
			return fmt.Errorf("llm/enrich: Config.First: level %q with score %v is none of the owner's", f.Level, f.Score)
		}
		f.Level, f.ImportanceTold.By = level.Name, ByHost
	}
	if f.CalendarTold.By != "" {
		f.CalendarTold.By = ByHost
	}
	for _, told := range []Told{f.CategoryTold, f.ImportanceTold, f.CalendarTold} {
		if !isUnit(told.Confidence) {
			return fmt.Errorf("llm/enrich: Config.First: the confidence %v is not from 0 to 1", told.Confidence)
		}
	}
	return nil
}

func isUnit(f float64) bool { return f >= 0 && f <= 1 }

// The bounds of texts that are stored, in characters, and of lists.
const (
	maxReasoning = 500
	maxText      = 200
	maxItems     = 10
	maxEvents    = 20
	maxAttendees = 20
)

// bounded returns a text on one line, cut to length, in a form that every database can store.
func bounded(s string, limit int) string {
	s = strings.Join(strings.Fields(dbvalue.Clean(s)), " ")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}
