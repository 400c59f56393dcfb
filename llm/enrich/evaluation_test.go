package enrich_test

import (
	"context"
	"flag"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/rules"
)

var update = flag.Bool("update", false, "write the tables of docs/evaluation.md")

// An answer is what is known of a message without a model; empty where a model would be asked.
type answer struct {
	category, level string
	open            []string // the stages that a model would be asked about
	why             string   // of the category
}

func (a *answer) of(s enrich.Stage) string {
	if s == enrich.StageCategory {
		return a.category
	}
	return a.level
}

// answers returns what a world knows of the messages.
func (w *world) answers(list []judged) []answer {
	w.Helper()
	said := make([]answer, len(list))
	for i := range list {
		facts, err := w.service.Facts(w.Context(), list[i].msg)
		require.NoError(w, err)
		q, err := w.service.Question(w.Context(), list[i].msg)
		require.NoError(w, err)
		said[i] = answer{category: facts.Category, level: facts.Level, why: facts.CategoryTold.Reasoning}
		if q != nil {
			said[i].open = stagesOf(*q)
		}
	}
	return said
}

// The accuracy without a model, by two judges, of 300 messages; then what is learned from the older half of them, of
// which a simulated person corrects 100 and 1,000, is tried on the newer half. The tables of the docs are the report.
func TestEvaluation(t *testing.T) {
	list, known := labelledMail(t)
	require.Len(t, list, 300)
	var judges, headers, learning report
	judges.agreement(list)
	headers.byHeaders(t, list, known)
	learning.byLearning(t, list, known)
	requireDocs(t, "judges", judges.String())
	requireDocs(t, "headers", headers.String())
	requireDocs(t, "learning", learning.String())
}

const evaluationPage = "../../docs/evaluation.md"

// requireDocs holds one section of the page, between two comments of its name, against the text.
func requireDocs(t *testing.T, section, text string) {
	t.Helper()
	page, err := os.ReadFile(evaluationPage)
	require.NoError(t, err)
	begin, end := "<!-- "+section+" -->\n", "<!-- end of "+section+" -->"
	before, rest, found := strings.Cut(string(page), begin)
	require.True(t, found, "%s has no %s", evaluationPage, begin)
	there, after, found := strings.Cut(rest, end)
	require.True(t, found, "%s has no %s", evaluationPage, end)
	if *update {
		require.NoError(t, os.WriteFile(evaluationPage, []byte(before+begin+text+end+after), 0o600))
		return
	}
	require.Equal(t, there, text, "%s: go test ./llm/enrich -run TestEvaluation -update writes what is measured",
		evaluationPage)
}

// byHeaders evaluates what is known by headers alone.
func (r *report) byHeaders(t *testing.T, list []judged, known map[string]bool) {
	all := part{"all", list, labelledWorld(t, known, nil).answers(list)}
	parts := []part{all, all.of("the sample", (*judged).ofSample),
		all.of("made for this", func(j *judged) bool { return !j.ofSample() }),
		all.of("of people, by A", (*judged).ofPeople),
		all.of("of programs and lists, by A", func(j *judged) bool { return !j.ofPeople() })}
	r.needs(parts...)
	for _, s := range judgedStages {
		r.accuracy(s, parts...)
	}
	r.confusion(all, enrich.StageCategory, categoryNames())
	r.confusion(all, enrich.StageImportance, levelNames())
	for i := range list {
		for _, s := range judgedStages {
			if j, got := &list[i], all.said[i].of(s); got != "" && !j.right(byEither, s, got) {
				t.Logf("%s %q: %s is %s, not %s (%s)", j.msg.ID, j.msg.Subject, s, got, j.a.of(s), all.said[i].why)
			}
		}
	}
}

func (j *judged) ofSample() bool { return strings.HasPrefix(j.msg.ID, "sample/") }
func (j *judged) ofPeople() bool { return j.a.Category == "personal" || j.a.Category == "work" }

// before is when the judged mail of the learning begins: what was received earlier teaches.
var before = time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)

// byLearning evaluates what is known with what was learned.
func (r *report) byLearning(t *testing.T, list []judged, known map[string]bool) {
	first := slices.IndexFunc(list, func(j judged) bool { return !j.msg.ReceivedAt.Before(before) })
	teaching, rest := list[:first], list[first:]
	wrote := map[string]bool{}
	for i := range teaching {
		wrote[teaching[i].msg.From.Email] = true
	}
	said := labelledWorld(t, known, nil).answers(teaching)
	topics := teach(t, teaching, said, enrich.StageCategory, categoryNames())
	priorities := teach(t, teaching, said, enrich.StageImportance, levelNames())
	r.linef("%d messages teach, and %d are judged.", len(teaching), len(rest))
	r.head(1, "the person has", "mail until then: for categories", "rules", "mail until then: for importance", "rules")
	var parts []part
	for i, name := range []string{"corrected nothing", "corrected 100", "corrected 1,000"} {
		r.row(name, strconv.Itoa(topics[i].mails), strconv.Itoa(len(topics[i].rules)), strconv.Itoa(priorities[i].mails),
			strconv.Itoa(len(priorities[i].rules)))
		w := labelledWorld(t, known, host(t, topics[i].rules, priorities[i].rules))
		all := part{name, rest, w.answers(rest)}
		parts = append(parts, all,
			all.of(name+": known senders", func(j *judged) bool { return wrote[j.msg.From.Email] }),
			all.of(name+": new senders", func(j *judged) bool { return !wrote[j.msg.From.Email] }))
	}
	r.needs(parts...)
	for _, s := range judgedStages {
		r.accuracy(s, parts...)
	}
}

// host returns a host's First that goes by rules: the category, and the level, of a message is the label that the first
// matching rule gives it.
func host(t *testing.T, topics, priorities []rules.Rule) func(context.Context, *postroom.Message) (enrich.Facts,
	error) {
	topic, priority := rules.NewSet(topics, nil), rules.NewSet(priorities, nil)
	require.Empty(t, append(topic.Broken(), priority.Broken()...))
	told := enrich.Told{By: enrich.ByHost, Confidence: 0.9, Reasoning: "a learned rule gives it this label"}
	levels := enrich.DefaultLevels()
	return func(_ context.Context, msg *postroom.Message) (f enrich.Facts, err error) {
		if label, ok := labelBy(topic, msg); ok {
			f.Category, f.CategoryTold = label, told
		}
		if label, ok := labelBy(priority, msg); ok {
			i := slices.IndexFunc(levels, func(l enrich.Level) bool { return l.Name == label })
			f.Level, f.Score, f.ImportanceTold = label, levels[i].From, told
		}
		return f, nil
	}
}

func labelBy(set *rules.Set, msg *postroom.Message) (string, bool) {
	rule, ok := set.First(msg, msg.ReceivedAt)
	if !ok {
		return "", false
	}
	return rule.Parameters.Text(postroom.ParamLabel)
}
