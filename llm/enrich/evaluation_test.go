package enrich_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/rules"
)

var update = flag.Bool("update", false, "write the report of the evaluation anew")

// An answer is what is known of a message without a model; empty where a model would be asked.
type answer struct {
	category, level string
	open            []string // the stages of the question that a model would be asked
	why             string   // of the category
}

func (a *answer) of(s enrich.Stage) string {
	if s == enrich.StageCategory {
		return a.category
	}
	return a.level
}

// answer returns what a world says of the messages.
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

// A report is the text of an evaluation.
type report struct{ strings.Builder }

func (r *report) line(format string, args ...any) { fmt.Fprintf(r, format+"\n", args...) }

func share(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}

var judgedStages = []enrich.Stage{enrich.StageCategory, enrich.StageImportance}

// needs says how much of the mail needs a model.
func (r *report) needs(name string, said []answer) {
	cheap := map[string]int{}
	for i := range said {
		for _, s := range []enrich.Stage{enrich.StageCategory, enrich.StageImportance, enrich.StageCalendar} {
			if !slices.Contains(said[i].open, string(s)) {
				cheap[string(s)]++
			}
		}
		if len(said[i].open) == 0 {
			cheap["all"]++
		}
	}
	r.line("%-28s %4d messages; without a model: category %s, importance %s, appointments %s, all of them %s", name,
		len(said), share(cheap["category"], len(said)), share(cheap["importance"], len(said)),
		share(cheap["calendar"], len(said)), share(cheap["all"], len(said)))
}

// accuracy says how right the answers are, by each judge.
func (r *report) accuracy(name string, list []judged, said []answer) {
	for _, s := range judgedStages {
		told, right := 0, map[string]int{}
		for i := range list {
			got := said[i].of(s)
			if got == "" {
				continue
			}
			told++
			for _, judge := range []string{"A", "B", "either"} {
				if list[i].right(judge, s, got) {
					right[judge]++
				}
			}
		}
		r.line("%-28s %-10s told %3d of %3d (%s); right by either %3d: %s of the told, %s of all (by A %s and %s, by B %s and %s)",
			name, s, told, len(list), share(told, len(list)), right["either"], share(right["either"], told),
			share(right["either"], len(list)), share(right["A"], told), share(right["A"], len(list)),
			share(right["B"], told), share(right["B"], len(list)))
	}
}

// agreement says how far the judges agree: in how many of a hundred messages, and Cohen's kappa, which is 0 if as often
// as by chance and 1 if always.
func (r *report) agreement(list []judged) {
	both := slices.DeleteFunc(slices.Clone(list), func(j judged) bool { return j.b.ID == "" })
	r.line("labelled by A: %d, by B: %d", len(list), len(both))
	for _, s := range judgedStages {
		same, a, b := 0, map[string]int{}, map[string]int{}
		pairs := map[string]int{}
		for i := range both {
			x, y := both[i].a.of(s), both[i].b.of(s)
			a[x]++
			b[y]++
			if x == y {
				same++
			} else {
				pairs[x+" or "+y]++
			}
		}
		r.line("%-10s A and B agree about %d: %s, kappa %s", s, same, share(same, len(both)), kappa(same, len(both), a, b))
		for _, p := range slices.SortedFunc(keys(pairs), func(p, q string) int {
			return cmp.Or(cmp.Compare(pairs[q], pairs[p]), cmp.Compare(p, q))
		}) {
			r.line("  %3d %s", pairs[p], p)
		}
	}
}

func kappa(same, n int, a, b map[string]int) string {
	chance := 0
	for _, name := range slices.Sorted(keys(a)) {
		chance += a[name] * b[name]
	}
	if n == 0 || chance == n*n {
		return "-"
	}
	expected := float64(chance) / float64(n*n)
	return fmt.Sprintf("%.2f", (float64(same)/float64(n)-expected)/(1-expected))
}

func keys(m map[string]int) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// confusion shows which answers were given to what, by judge A.
func (r *report) confusion(list []judged, said []answer, s enrich.Stage, names []string) {
	counts := map[[2]string]int{}
	for i := range list {
		counts[[2]string{list[i].a.of(s), cmp.Or(said[i].of(s), "open")}]++
	}
	head := fmt.Sprintf("%-14s", "A says, told:")
	columns := append(slices.Clone(names), "open")
	for _, name := range columns {
		head += fmt.Sprintf(" %13s", name)
	}
	r.line("%s", head)
	for _, row := range names {
		line := fmt.Sprintf("%-14s", row)
		for _, name := range columns {
			line += fmt.Sprintf(" %13d", counts[[2]string{row, name}])
		}
		r.line("%s", line)
	}
}

// parted returns the part of the messages, and of the answers, of which in is true.
func parted(list []judged, said []answer, in func(j *judged) bool) (part []judged, partSaid []answer) {
	for i := range list {
		if in(&list[i]) {
			part, partSaid = append(part, list[i]), append(partSaid, said[i])
		}
	}
	return part, partSaid
}

// before is when the judged mail of the learning begins: what was received earlier teaches.
var before = time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)

// The accuracy without a model, by two judges, of 300 messages; then what is learned from the older half of them, of
// which a simulated person corrects 100 and 1,000, is tried on the newer half. The report is a golden file.
func TestEvaluation(t *testing.T) {
	list, known := labelledMail(t)
	require.Len(t, list, 300)
	var r report
	r.agreement(list)
	r.headers(t, list, known)
	r.learning(t, list, known)
	const golden = labelledFolder + "report.golden"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(r.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), r.String(), "run with -update and read the difference")
}

// headers evaluates what is told by headers alone.
func (r *report) headers(t *testing.T, list []judged, known map[string]bool) {
	said := labelledWorld(t, known, nil).answers(list)
	r.line("\nBy headers alone")
	for _, part := range []struct {
		name string
		in   func(j *judged) bool
	}{
		{"all", func(*judged) bool { return true }},
		{"the sample", func(j *judged) bool { return strings.HasPrefix(j.msg.ID, "sample/") }},
		{"made for this", func(j *judged) bool { return !strings.HasPrefix(j.msg.ID, "sample/") }},
		{"of people, by A", (*judged).ofPeople},
		{"of programs, by A", func(j *judged) bool { return !j.ofPeople() }},
	} {
		some, someSaid := parted(list, said, part.in)
		r.needs(part.name, someSaid)
		r.accuracy(part.name, some, someSaid)
	}
	r.line("")
	r.confusion(list, said, enrich.StageCategory, categoryNames())
	r.line("")
	r.confusion(list, said, enrich.StageImportance, levelNames())
	for i := range list {
		j, a := &list[i], &said[i]
		for _, s := range judgedStages {
			if got := a.of(s); got != "" && !j.right("either", s, got) {
				t.Logf("%s %q: %s is %s, not %s (%s)", j.msg.ID, j.msg.Subject, s, got, j.a.of(s), a.why)
			}
		}
	}
}

func (j *judged) ofPeople() bool { return j.a.Category == "personal" || j.a.Category == "work" }

// learning evaluates what is told with what was learned.
func (r *report) learning(t *testing.T, list []judged, known map[string]bool) {
	i := slices.IndexFunc(list, func(j judged) bool { return !j.msg.ReceivedAt.Before(before) })
	teaching, rest := list[:i], list[i:]
	wrote := map[string]bool{}
	for i := range teaching {
		wrote[teaching[i].msg.From.Email] = true
	}
	said := labelledWorld(t, known, nil).answers(teaching)
	categories := teach(t, teaching, said, enrich.StageCategory, categoryNames())
	levels := teach(t, teaching, said, enrich.StageImportance, levelNames())
	r.line("\nWith learning: %d messages teach, %d are judged", len(teaching), len(rest))
	for i, name := range []string{"no corrections", "100 corrections", "1,000 corrections"} {
		topics, priorities := rules.NewSet(categories[i].rules, nil), rules.NewSet(levels[i].rules, nil)
		require.Empty(t, append(topics.Broken(), priorities.Broken()...))
		w := labelledWorld(t, known, func(_ context.Context, msg *postroom.Message) (f enrich.Facts, err error) {
			if label, ok := labelBy(topics, msg); ok {
				f.Category, f.CategoryTold = label, enrich.Told{Confidence: 0.9, By: enrich.ByHost}
			}
			if label, ok := labelBy(priorities, msg); ok {
				f.Level, f.ImportanceTold = label, enrich.Told{Confidence: 0.9, By: enrich.ByHost}
				f.Score = scoreOf(label)
			}
			return f, nil
		})
		r.line("%s: %d rules for categories of %d mails, %d for importance of %d mails", name, len(categories[i].rules),
			categories[i].mails, len(levels[i].rules), levels[i].mails)
		restSaid := w.answers(rest)
		r.needs("  all", restSaid)
		r.accuracy("  all", rest, restSaid)
		some, someSaid := parted(rest, restSaid, func(j *judged) bool { return wrote[j.msg.From.Email] })
		r.needs("  senders known", someSaid)
		r.accuracy("  senders known", some, someSaid)
	}
}

// labelBy returns the label that the rules give to a message.
func labelBy(set *rules.Set, msg *postroom.Message) (string, bool) {
	rule, ok := set.First(msg, msg.ReceivedAt)
	if !ok {
		return "", false
	}
	return rule.Parameters.Text(postroom.ParamLabel)
}

func scoreOf(level string) float64 {
	levels := enrich.DefaultLevels()
	return levels[slices.IndexFunc(levels, func(l enrich.Level) bool { return l.Name == level })].From
}
