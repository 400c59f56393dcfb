package statistics

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/internal/webui"
)

// ActWords say what people did.
func (a Act) ActWords() string { return strings.ReplaceAll(a.Act, "_", " ") }

// MeanWords says how long it took on average.
func (t Times) MeanWords() string { return seconds(t.Mean) }

// HalfWords says how long half took at most.
func (t Times) HalfWords() string { return seconds(t.Half) }

// MostWords says how long 95 % took at most.
func (t Times) MostWords() string { return seconds(t.Most) }

func seconds(s float64) string { return webui.Duration(time.Duration(s * float64(time.Second))) }

// State says how far it is counted.
func (v *View) State() string {
	switch {
	case v.CountedAt.IsZero() && v.Days == 0:
		return "Nothing was counted yet."
	case v.CountedAt.IsZero():
		return "Nothing was counted yet; it is within some minutes, while postroomd runs."
	case v.Days > 0:
		return printer.Count(v.Days, "day has", "days have") +
			" changed since and will be counted anew within five minutes, while postroomd runs."
	}
	return "All is counted."
}

// Print prints a view for people.
func Print(w io.Writer, v *View) error {
	f := printer.NewFields(w)
	f.Add("mailboxes", strings.Join(v.Mailboxes, ", "))
	f.Add("from", cmp.Or(v.From, "the first day"))
	f.Add("to", cmp.Or(v.To, "today"))
	f.Add("messages", v.Messages)
	f.Add("counted", printer.Clock(v.CountedAt))
	f.Add("state", v.State())
	err := f.Flush()
	for _, t := range v.tables() {
		if err == nil && len(t.rows) > 0 {
			_, err = fmt.Fprintln(w)
		}
		if err == nil && len(t.rows) > 0 {
			table := printer.NewTable(w, t.columns...)
			for _, row := range t.rows {
				table.Row(row...)
			}
			err = table.Flush("")
		}
	}
	return err
}

// A table is one part of what is printed.
type table struct {
	columns []string
	rows    [][]any
}

func newTable[T any](columns []string, list []T, row func(T) []any) table {
	t := table{columns: columns}
	for _, of := range list {
		t.rows = append(t.rows, row(of))
	}
	return t
}

func (v *View) tables() []table {
	senders := newTable([]string{"SENDER", "MESSAGES"}, v.Senders, func(s Sender) []any {
		return []any{printer.Short(printer.Printable(cmp.Or(s.Sender, "(none)")), 60), s.Messages}
	})
	if v.Others > 0 {
		senders.rows = append(senders.rows, []any{"others", v.Others})
	}
	times := func(first string, list []Times) table {
		return newTable([]string{first, "N", "MEAN", "HALF WITHIN", "95 % WITHIN"}, list, func(t Times) []any {
			return []any{t.Name, t.N, t.MeanWords(), t.HalfWords(), t.MostWords()}
		})
	}
	return []table{
		senders,
		newTable([]string{"CATEGORY", "MESSAGES", "MEAN CONFIDENCE"}, v.Categories, func(c Category) []any {
			return []any{printer.Printable(c.Category), c.Messages, fmt.Sprintf("%.2f", c.Confidence)}
		}),
		judgedTable("RULE", v.Rules), judgedTable("MODEL", v.Models),
		newTable([]string{"WHAT PEOPLE DID", "N"}, v.Acts, func(a Act) []any { return []any{a.ActWords(), a.N} }),
		times("FROM ARRIVAL TO ACTION", v.Actions), times("FROM REQUEST TO ANSWER", v.Answers),
	}
}

func judgedTable(first string, list []Judged) table {
	return newTable([]string{first, "ACTED", "CORRECTED", "CONFIRMED", "NOT CORRECTED"}, list, func(j Judged) []any {
		return []any{printer.Short(printer.Printable(j.Name), 60), j.Acted, j.Corrected, j.Confirmed,
			fmt.Sprintf("%d %%", j.Percent())}
	})
}
