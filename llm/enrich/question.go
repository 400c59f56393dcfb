package enrich

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm/decide"
)

// Question returns what a model is to be asked about a message in the call in which it decides, or nil if nothing is
// left open: it is the field Question of [decide.Config]. Give the answer to [Service.Arrived].
func (s *Service) Question(ctx context.Context, msg *postroom.Message) (*decide.Question, error) {
	if s.cfg.Model == nil {
		return nil, nil
	}
	facts, seen, err := s.tell(ctx, msg)
	if err != nil {
		return nil, err
	}
	open := slices.DeleteFunc(slices.Clone(s.cfg.Stages), func(stage Stage) bool {
		return stage == StageUnsubscribe || facts.told(stage).By != "" || stage == StageCalendar && seen.hasCalendar()
	})
	if len(open) == 0 {
		return nil, nil
	}
	q := s.question(open, nil)
	return &q, nil
}

// question asks about open stages. The denials are of results that a person has rejected.
func (s *Service) question(open []Stage, denials map[Stage]Denial) decide.Question {
	var task strings.Builder
	task.WriteString("Say what you find in the message, in these fields:\n")
	properties := object{}
	for _, stage := range open {
		text, schema := s.asks(stage)
		task.WriteString("- " + text + "\n")
		properties[string(stage)] = schema
		if d, ok := denials[stage]; ok {
			fmt.Fprintf(&task, "  You said %q before, and the person has rejected that. Find something else.", d.Value)
			if d.Why != "" {
				task.WriteString(" The person's reason: " + d.Why)
			}
			task.WriteString("\n")
		}
	}
	task.WriteString("A confidence is how sure you are, from 0 to 1. What a reasoning says is for the person, in a sentence.")
	schema, err := json.Marshal(structure(properties))
	if err != nil {
		panic(fmt.Sprintf("llm/enrich: the schema is made of plain values: %v", err))
	}
	return decide.Question{Task: task.String(), Schema: schema, Check: func(answer json.RawMessage) error {
		_, err := s.read(answer, open)
		return err
	}}
}

// asks returns what is asked about a stage, and the schema of the answer.
func (s *Service) asks(stage Stage) (task string, schema object) {
	unit := object{"type": "number", "minimum": 0, "maximum": 1}
	text := object{"type": "string"}
	var names, lines []string
	switch stage {
	case StageCategory:
		for _, c := range s.cfg.Categories {
			names = append(names, c.Name)
			lines = append(lines, "\n  "+c.Name+": "+c.Describes)
		}
		return "category: the one category to which it belongs." + strings.Join(lines, ""),
			structure(object{"name": enum(names), "confidence": unit, "reasoning": text})
	case StageImportance:
		for _, l := range s.cfg.Levels {
			names = append(names, l.Name)
			lines = append(lines, fmt.Sprintf("\n  %s (score from %v on): %s", l.Name, l.From, l.Describes))
		}
		item := structure(object{"text": text, "due": text})
		return "importance: how much it matters to the person, as a score from 0 to 1 and the level of that score, and " +
				"what it asks the person to do. Mail that says of itself that it is urgent is not for that reason. due is a " +
				"day (2006-01-02) or a time (2006-01-02T15:04), or empty." + strings.Join(lines, ""),
			structure(object{"level": enum(names), "score": unit, "confidence": unit, "reasoning": text,
				"action_items": object{"type": "array", "items": item, "maxItems": maxItems}})
	default:
		event := structure(object{"title": text, "start": text, "end": text, "zone": text, "place": text,
			"attendees": object{"type": "array", "items": text}})
		return "calendar: the appointments that it names and that are still to come; none if it only names a day. start and " +
				"end are a time (2006-01-02T15:04) or a day (2006-01-02); end, zone (such as Europe/Berlin), place and " +
				"attendees are empty where it does not say them.",
			structure(object{"confidence": unit, "reasoning": text,
				"events": object{"type": "array", "items": event, "maxItems": maxEvents}})
	}
}

type object map[string]any

func enum(names []string) object { return object{"type": "string", "enum": names} }

// structure returns an object schema whose properties are all required.
func structure(properties object) object {
	return object{"type": "object", "properties": properties, "required": slices.Sorted(maps.Keys(properties)),
		"additionalProperties": false}
}

// isTime reports whether a text is a day or a minute as events and items have it.
func isTime(s string) bool {
	for _, layout := range []string{time.DateOnly, minute} {
		if _, err := time.Parse(layout, s); err == nil {
			return true
		}
	}
	return false
}
