package enrich_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom/llm/enrich"
)

// A report is the text of an evaluation, in Markdown.
type report struct{ strings.Builder }

func (r *report) linef(format string, args ...any) { fmt.Fprintf(r, format+"\n", args...) }

// row writes a row of a table; head the first one, of whose columns all but the left ones are numbers.
func (r *report) row(cells ...string) { r.linef("| %s |", strings.Join(cells, " | ")) }

func (r *report) head(left int, cells ...string) {
	r.linef("")
	r.row(cells...)
	rule := slices.Repeat([]string{"---:"}, len(cells))
	for i := range left {
		rule[i] = "---"
	}
	r.row(rule...)
}

func share(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(of))
}

var judgedStages = []enrich.Stage{enrich.StageCategory, enrich.StageImportance}

// A part is some of the messages, with what is said of them.
type part struct {
	name string
	list []judged
	said []answer
}

// of returns the part of which in is true.
func (p part) of(name string, in func(j *judged) bool) part {
	some := part{name: name}
	for i := range p.list {
		if in(&p.list[i]) {
			some.list, some.said = append(some.list, p.list[i]), append(some.said, p.said[i])
		}
	}
	return some
}

// needs says how much of the mail needs no model.
func (r *report) needs(parts ...part) {
	r.head(1, "without a model", "messages", "category", "importance", "appointments", "all three")
	for _, p := range parts {
		cheap := map[enrich.Stage]int{}
		all := 0
		for i := range p.said {
			for _, s := range []enrich.Stage{enrich.StageCategory, enrich.StageImportance, enrich.StageCalendar} {
				if !slices.Contains(p.said[i].open, string(s)) {
					cheap[s]++
				}
			}
			if len(p.said[i].open) == 0 {
				all++
			}
		}
		n := len(p.list)
		r.row(p.name, strconv.Itoa(n), share(cheap[enrich.StageCategory], n), share(cheap[enrich.StageImportance], n),
			share(cheap[enrich.StageCalendar], n), share(all, n))
	}
}

// accuracy says how right the answers are: of those that were given, and of all messages.
func (r *report) accuracy(s enrich.Stage, parts ...part) {
	r.head(1, "accuracy of "+string(s), "messages", "answered", "right of these", "right of all", "by A alone: of these",
		"of all", "by B alone: of these", "of all")
	for _, p := range parts {
		told, right := 0, map[judge]int{}
		for i := range p.list {
			got := p.said[i].of(s)
			if got == "" {
				continue
			}
			told++
			for _, j := range []judge{byA, byB, byEither} {
				if p.list[i].right(j, s, got) {
					right[j]++
				}
			}
		}
		cells := []string{p.name, strconv.Itoa(len(p.list)), strconv.Itoa(told)}
		for _, j := range []judge{byEither, byA, byB} {
			cells = append(cells, share(right[j], told), share(right[j], len(p.list)))
		}
		r.row(cells...)
	}
}

// agreement says how far the judges agree: in how many of a hundred messages, and Cohen's kappa, which is 0 if as often
// as by chance and 1 if always.
func (r *report) agreement(list []judged) {
	both := slices.DeleteFunc(slices.Clone(list), func(j judged) bool { return j.b.ID == "" })
	r.linef("Judge A has labelled %d messages, and judge B %d.", len(list), len(both))
	r.head(1, "the judges agree about", "messages", "share", "Cohen's kappa")
	disagree := map[string]int{}
	for _, s := range judgedStages {
		same, a, b := 0, map[string]int{}, map[string]int{}
		for i := range both {
			x, y := both[i].a.of(s), both[i].b.of(s)
			a[x]++
			b[y]++
			if x == y {
				same++
				continue
			}
			disagree[min(x, y)+" or "+max(x, y)]++
		}
		r.row(string(s), strconv.Itoa(same), share(same, len(both)), kappa(same, len(both), a, b))
	}
	r.head(1, "where they disagree", "messages")
	for _, pair := range slices.SortedFunc(maps.Keys(disagree), func(p, q string) int {
		return cmp.Or(cmp.Compare(disagree[q], disagree[p]), cmp.Compare(p, q))
	}) {
		r.row(pair, strconv.Itoa(disagree[pair]))
	}
}

func kappa(same, n int, a, b map[string]int) string {
	chance := 0
	for name := range a {
		chance += a[name] * b[name]
	}
	if n == 0 || chance == n*n {
		return "-"
	}
	expected := float64(chance) / float64(n*n)
	return fmt.Sprintf("%.2f", (float64(same)/float64(n)-expected)/(1-expected))
}

// confusion shows which answers were given to what.
func (r *report) confusion(p part, s enrich.Stage, names []string) {
	counts := map[[2]string]int{}
	for i := range p.list {
		counts[[2]string{p.list[i].a.of(s), cmp.Or(p.said[i].of(s), "open")}]++
	}
	columns := append(slices.Clone(names), "open")
	r.head(1, append([]string{string(s) + " by A ↓, answer →"}, columns...)...)
	for _, name := range names {
		cells := []string{name}
		for _, column := range columns {
			cells = append(cells, strconv.Itoa(counts[[2]string{name, column}]))
		}
		r.row(cells...)
	}
}
