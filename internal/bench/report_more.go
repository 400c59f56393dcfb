package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A latencyColumn is one latency of a workload.
type latencyColumn struct {
	workload Workload
	name     string
}

// latencyTable has a row for each contender, with the percentiles of every latency that was measured.
func (b *bench) latencyTable(engine string, durability Durability, title string) string {
	var columns []latencyColumn
	header := []string{title}
	for _, w := range b.workloads {
		for _, name := range slices.Sorted(maps.Keys(w.Latencies)) {
			if b.hasCells(engine, durability, w) {
				columns, header = append(columns, latencyColumn{w, name}), append(header, w.Latencies[name])
			}
		}
	}
	if len(columns) == 0 {
		return ""
	}
	rows := [][]string{header, slices.Repeat([]string{"---"}, len(header))}
	for _, name := range b.namesOf(engine) {
		row, known := []string{name}, false
		for _, c := range columns {
			text := "–"
			if best := b.best(engine, durability, c.workload, name); best.cell != nil {
				text, known = best.figure.Latencies[c.name].String(), true
			}
			row = append(row, text)
		}
		if known {
			rows = append(rows, row)
		}
	}
	return markdown(rows)
}

func (b *bench) hasCells(engine string, durability Durability, w Workload) bool {
	return slices.ContainsFunc(b.cells, func(c *cell) bool {
		return c.Engine == engine && c.Durability == durability && c.Workload == w.Name
	})
}

func markdown(rows [][]string) string {
	var out strings.Builder
	for _, row := range rows {
		out.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	return out.String()
}

// machineNames are the contenders that were measured as machines, ours last but for the ratio.
func (b *bench) machineNames() []string {
	var names []string
	for i := range b.contenders {
		name := b.contenders[i].Name
		if slices.ContainsFunc(b.machines, func(r machineResult) bool { return len(r.By[name]) > 0 }) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// machineRows have the delay, the work, the number of machines, what their workers could do, and each contender's rate.
func (b *bench) machineRows() [][]string {
	var rows [][]string
	names := b.machineNames()
	for i := range b.machines {
		r := &b.machines[i]
		work, possible := "nothing", "–"
		if r.Case.Work > 0 {
			work, possible = r.Case.Work.String(), count(r.Case.possible(&b.size.Machines))
		}
		row := []string{r.Case.Delay.String(), round2(milliseconds(r.Trip)) + " ms", work, strconv.Itoa(r.Case.Machines), possible}
		for _, name := range names {
			text := "–"
			if len(r.By[name]) > 0 {
				text = round3(median(r.By[name]))
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return rows
}

func (b *bench) limitDrainRows() [][]string {
	var rows [][]string
	for i := range b.limitDrains {
		r := &b.limitDrains[i]
		rows = append(rows, []string{b.engines[r.Engine].Title(), r.title(&b.size.Limits), round3(median(r.Rates))})
	}
	return rows
}
