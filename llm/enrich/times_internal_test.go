package enrich

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
)

var sent = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

func TestATextSaysOneTime(t *testing.T) {
	for text, want := range map[string]string{
		"We meet on 2026-03-06 at 14:00.":          "2026-03-06T14:00",
		"2026-03-06T14:30":                         "2026-03-06T14:30",
		"Termin am 06.03.2026 um 14 Uhr":           "2026-03-06T14:00",
		"Termin am 6. März 2026, 14:15 Uhr":        "2026-03-06T14:15",
		"6 March at 2:30 pm":                       "2026-03-06T14:30",
		"March 6th, 2026 at 2pm":                   "2026-03-06T14:00",
		"January 5 at 12am":                        "2027-01-05T00:00",
		"on 1 March at 10:00, again 1 March 10:00": "2027-03-01T10:00",
		"6 March":                               "",
		"6 March 2026":                          "",
		"14:00":                                 "",
		"30 February at 10:00":                  "",
		"6 March at 25:00":                      "",
		"6 March at 10:75":                      "",
		"6 March at 13 pm":                      "",
		"2020-03-06 at 14:00":                   "",
		"2036-03-06 at 14:00":                   "",
		"06/03/2026 at 14:00":                   "",
		"2026-13-06 at 14:00":                   "",
		"6 March at 10:00, or 7 March at 10:00": "",
		"The summary of 6 Marchers at 10:00 in 2026 is here": "",
	} {
		msg := &postroom.Message{Subject: "Plan", BodyPlain: text, Date: sent}
		events := byText(t.Context(), msg)
		if want == "" {
			require.Empty(t, events, text)
			continue
		}
		require.Equal(t, []Event{{Title: "Plan", Start: want}}, events, text)
		require.True(t, mentionsTime(text), text)
	}
}

func TestMailThatMayNameAnAppointment(t *testing.T) {
	for _, text := range []string{"See you on Friday?", "at 14:30", "2pm works", "um 3 Uhr", "kommst du morgen?",
		"le mardi",
		"el jueves", "alle 10.30", "3. März", "on the 3rd of May, 3 May", "明日会いましょう", "am Dienstagabend"} {
		require.True(t, mentionsTime(text), text)
	}
	for _, text := range []string{"Thank you!", "Version 10 is out.", "I may come.", "Das ist die Sonne.",
		"It costs 12 euros."} {
		require.False(t, mentionsTime(text), text)
	}
}

func FuzzTimesOfATextAreTimes(f *testing.F) {
	for _, s := range []string{"6 March at 2:30 pm", "06.03.2026 um 14 Uhr", "2026-03-06T14:30", "\xff2026-03-06 99:99"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, e := range byText(t.Context(), &postroom.Message{Subject: text, BodyPlain: text, Date: sent}) {
			at, err := time.Parse(minute, e.Start)
			require.NoError(t, err)
			require.False(t, at.Before(sent.Add(-24*time.Hour)))
			require.LessOrEqual(t, utf8.RuneCountInString(e.Title), maxText)
			require.True(t, utf8.ValidString(e.Title))
		}
	})
}

func service() *Service { return &Service{cfg: Config{}.withDefaults()} }

const whole = `{"category": {"name": "Work", "confidence": 1, "reasoning": "x"},
	"importance": {"level": "high", "score": 0.9, "confidence": 0.9, "reasoning": "x", "action_items": []},
	"calendar": {"confidence": 1, "reasoning": "x", "events": [{"title": "T", "start": "2026-03-06", "end": "2026-03-07"}]}}`

// What is wrong with an answer is said, and the rest of it can be used.
func TestAnAnswerIsReadStageByStage(t *testing.T) {
	open := []Stage{StageCategory, StageImportance, StageCalendar}
	f, err := service().read(json.RawMessage(whole), open)
	require.NoError(t, err)
	require.Equal(t, "work", f.Category)
	require.Equal(t, []Event{{Title: "T", Start: "2026-03-06", End: "2026-03-07"}}, f.Events)
	for change, fault := range map[[2]string]string{
		{`"Work"`, `"Rest"`}: `category: "Rest" is none of the categories`,
		{`"confidence": 1, "reasoning": "x"},`, `"confidence": 2, "reasoning": "x"},`}: "category: it is missing",
		{`"category"`, `"topic"`}:                                    "category: it is missing",
		{`"high"`, `"top"`}:                                          `importance: "top" is none of the levels`,
		{`"score": 0.9, `, ``}:                                       "importance: it is missing",
		{`[]`, `[{"text": " "}]`}:                                    "an action item has no text",
		{`[]`, `[{"text": "x", "due": "soon"}]`}:                     `the due time "soon"`,
		{`"T"`, `""`}:                                                "an event has no title",
		{`"2026-03-06"`, `"6 March"`}:                                `lasts from "6 March"`,
		{`"2026-03-07"`, `"2026-03-05"`}:                             "before it begins",
		{`"title": "T"`, `"title": "T", "zone": "../../etc/passwd"`}: "is no time zone",
		{`"title": "T"`, `"title": "T", "zone": "Local"`}:            "is no time zone",
	} {
		f, err := service().read(json.RawMessage(strings.Replace(whole, change[0], change[1], 1)), open)
		require.ErrorContains(t, err, fault, change[1])
		told := 0
		for _, s := range open {
			if f.told(s).By == ByModel {
				told++
			}
		}
		require.Equal(t, 2, told, change[1])
	}
	_, err = service().read(json.RawMessage(`[]`), open)
	require.ErrorContains(t, err, "not of the schema")
}

// Whatever a model says, what is taken of it is of the owner's lists, and in bounds.
func FuzzAnswersAreOfTheOwnersLists(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(`{"calendar":{"confidence":1,"events":[{"title":"\u0000","start":"2026-03-06T14:00","attendees":["a\n"]}]}}`))
	s := service()
	f.Fuzz(func(t *testing.T, raw []byte) {
		facts, _ := s.read(raw, Stages())
		if facts.CategoryTold.By != "" {
			_, ok := s.cfg.category(facts.Category)
			require.True(t, ok)
		}
		if facts.ImportanceTold.By != "" {
			_, ok := s.cfg.levelNamed(facts.Level)
			require.True(t, ok && isUnit(facts.Score))
		}
		require.LessOrEqual(t, len(facts.ActionItems), maxItems)
		require.LessOrEqual(t, len(facts.Events), maxEvents)
		for _, e := range facts.Events {
			require.True(t, isTime(e.Start))
			require.LessOrEqual(t, utf8.RuneCountInString(e.Title+e.Place), 2*maxText)
			require.NotContains(t, e.Title+strings.Join(e.Attendees, ""), "\x00")
		}
		var e Enrichment
		for _, stage := range Stages() {
			facts.apply(&e, stage)
			require.True(t, isUnit(facts.told(stage).Confidence))
		}
		_, err := e.values()
		require.NoError(t, err)
	})
}
