package enrich

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/queue"
)

// A Word is what a person says about the result of a stage.
type Word struct {
	AccountID, MessageID string
	Stage                Stage // category, importance or calendar
	// Approve takes the result as it is. Value is another category, or level, in its place. Otherwise the result is
	// rejected: the model is asked once more, with Why, which may be empty.
	Approve bool
	Value   string
	Why     string
	By      string // the name of the person
}

// ErrWord reports a word that cannot be taken: its error says why.
var ErrWord = errors.New("the answer cannot be taken")

// maxWhy bounds a person's reason, in characters.
const maxWhy = 500

// Answer records what a person says about a stage that has ended, and enqueues the job that goes on with it. A result
// that is rejected is asked about once more; if that is rejected as well, nothing is known for good. The error is
// [postroom.ErrNotFound], or an [ErrWord].
func (s *Service) Answer(ctx context.Context, tx queue.Tx, word Word) error {
	if (&Enrichment{}).told(word.Stage) == nil {
		return fmt.Errorf("llm/enrich: %w: %q is no stage that a person answers about; they are category, importance and "+
			"calendar", ErrWord, string(word.Stage))
	}
	_, err := change(ctx, tx, word.AccountID, word.MessageID, func(e *Enrichment) error { return s.take(e, &word) })
	if err != nil {
		return err
	}
	_, err = s.cfg.Queue.EnqueueTx(ctx, tx, s.newJob(Payload{AccountID: word.AccountID, MessageID: word.MessageID,
		Again: word.Stage}))
	return err
}

// take changes the result of a stage as a person says.
func (s *Service) take(e *Enrichment, word *Word) error {
	told := e.told(word.Stage)
	if e.EndedAt.IsZero() || !e.HasEnded(word.Stage) || !slices.Contains(s.cfg.Stages, word.Stage) {
		return fmt.Errorf("llm/enrich: %w: the stage %s has not ended; wait until it has", ErrWord, word.Stage)
	}
	by := Told{ByPerson, 1, strings.TrimSpace("answered by " + bounded(word.By, maxText))}
	switch {
	case word.Value != "":
		if err := s.set(e, word); err != nil {
			return err
		}
		*told = by
	case told.By == "" || told.By == ByNone:
		return fmt.Errorf("llm/enrich: %w: nothing was found that could be approved or rejected; give a value", ErrWord)
	case word.Approve:
		by.Reasoning += ", as found: " + told.Reasoning
		by.Reasoning = bounded(by.Reasoning, maxReasoning)
		*told = by
	default:
		s.deny(e, word)
	}
	delete(e.Faults, word.Stage)
	e.settle(s.cfg.Stages, s.cfg.SureFrom)
	if len(e.open(s.cfg.Stages)) == 0 {
		e.end(e.UpdatedAt)
	}
	return nil
}

// set puts a person's value in the place of what was found.
func (s *Service) set(e *Enrichment, word *Word) error {
	switch word.Stage {
	case StageCategory:
		name, ok := s.cfg.category(word.Value)
		if !ok {
			return fmt.Errorf("llm/enrich: %w: %q is none of the categories", ErrWord, word.Value)
		}
		e.Category = name
	case StageImportance:
		level, ok := s.cfg.levelNamed(word.Value)
		if !ok {
			return fmt.Errorf("llm/enrich: %w: %q is none of the levels", ErrWord, word.Value)
		}
		if !e.Stands(StageImportance) { // the person has said the level, and nothing of what the mail asks for
			e.ActionItems = nil
		}
		if e.Level != level.Name {
			e.Level, e.Score = level.Name, level.From
		}
	default:
		return fmt.Errorf("llm/enrich: %w: the stage %s takes no value; approve or reject it", ErrWord, word.Stage)
	}
	return nil
}

// deny opens the stage again, the first time; after that nothing is known.
func (s *Service) deny(e *Enrichment, word *Word) {
	_, again := e.Denials[word.Stage]
	if e.Denials == nil {
		e.Denials = map[Stage]Denial{}
	}
	e.Denials[word.Stage] = Denial{e.denied(word.Stage), bounded(word.Why, maxWhy), bounded(word.By, maxText)}
	none := Facts{}
	if again {
		told := Told{ByNone, 0, "a person has rejected what was found, twice"}
		none.CategoryTold, none.ImportanceTold, none.CalendarTold = told, told, told
	}
	none.apply(e, word.Stage)
}

// denied returns what a model is told that a person has rejected. It is of the owner's lists, or times, and no text of
// mail.
func (e *Enrichment) denied(s Stage) string {
	if s != StageCalendar {
		return e.Value(s)
	}
	if len(e.Events) == 0 {
		return "no event"
	}
	starts := make([]string, len(e.Events))
	for i := range e.Events {
		starts[i] = e.Events[i].Start
	}
	return "an appointment at " + strings.Join(starts, ", ")
}
