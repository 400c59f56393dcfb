package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/figure"
	"github.com/postroom-go/postroom/internal/bench/machine"
	"github.com/postroom-go/postroom/internal/bench/postroom"
	"github.com/postroom-go/postroom/internal/bench/store"
	"github.com/postroom-go/postroom/internal/bench/workload"
)

// A latencyColumn is one latency of a workload.
type latencyColumn struct {
	workload workload.Workload
	name     string
}

// latencyTable has a row for each contender, with the percentiles of every latency that was measured.
func (b *bench) latencyTable(engine string, durability store.Durability, title string) string {
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

func (b *bench) hasCells(engine string, durability store.Durability, w workload.Workload) bool {
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

// machineNames are the contenders that were measured as machines.
func (b *bench) machineNames() []string {
	var names []string
	for i := range b.contenders {
		c := &b.contenders[i]
		if slices.ContainsFunc(b.machines, func(r machine.Result) bool {
			return len(r.By[c.String()]) > 0
		}) && !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// machineRows have the delay, the round trip, the work, the number of machines, the maximum of their workers, each
// contender's rate, and the ratio of ours to the best peer.
func (b *bench) machineRows() [][]string {
	var rows [][]string
	for i := range b.machines {
		r := &b.machines[i]
		work, possible := "nothing", "–"
		if r.Case.Work > 0 {
			work, possible = r.Case.Work.String(), figure.Count(r.Case.Possible(&b.size.Machines))
		}
		trip := "–"
		if r.Trip > 0 {
			trip = figure.Round2(figure.Milliseconds(r.Trip)) + " ms"
		}
		row := []string{b.engines[r.Engine].Title(), r.Case.Delay.String(), trip, work,
			strconv.Itoa(r.Case.Machines), possible}
		var ours, peer float64
		for _, name := range b.machineNames() {
			rate, best := b.bestMachine(r, name)
			text := "–"
			if best != nil {
				text = figure.Round3(rate)
				if best.Variant != "" {
					text += " (" + best.Variant + ")"
				}
			}
			switch {
			case name == postroom.Name:
				ours = rate
			case best != nil && best.Peer:
				peer = max(peer, rate)
			}
			row = append(row, text)
		}
		relation := "–"
		if ours > 0 && peer > 0 {
			relation = figure.Round2(ours / peer)
		}
		rows = append(rows, append(row, relation))
	}
	return rows
}

// bestMachine is the better of a contender's variants.
func (b *bench) bestMachine(r *machine.Result, name string) (rate float64, best *contender.Contender) {
	for i := range b.contenders {
		c := &b.contenders[i]
		rates := r.By[c.String()]
		if c.Engine == r.Engine && c.Name == name && len(rates) > 0 && figure.Median(rates) > rate {
			rate, best = figure.Median(rates), c
		}
	}
	return rate, best
}

func (b *bench) limitDrainRows() [][]string {
	var rows [][]string
	for i := range b.ours.Drains {
		r := &b.ours.Drains[i]
		rows = append(rows, []string{b.engines[r.Engine].Title(), r.Store, figure.Round3(figure.Median(r.Rates))})
	}
	return rows
}
