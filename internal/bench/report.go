package main

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/postroom-go/postroom/internal/bench/contender"
	"github.com/postroom-go/postroom/internal/bench/figure"
	"github.com/postroom-go/postroom/internal/bench/postroom"
	"github.com/postroom-go/postroom/internal/bench/raw"
	"github.com/postroom-go/postroom/internal/bench/store"
	"github.com/postroom-go/postroom/internal/bench/workload"
)

//go:embed report.md.tmpl
var reportText string

// report renders the results.
func (b *bench) report(on host, about, versions map[string]string) string {
	var out strings.Builder
	reports := b.engineReports(about)
	t := template.Must(template.New("report").Funcs(template.FuncMap{"count": figure.Count, "rate": figure.Round3,
		"payload": func() int {
			return contender.PayloadSize
		}}).Parse(reportText))
	err := t.Execute(&out, map[string]any{
		"Date": time.Now().Format(time.DateOnly), "Machine": on, "Rounds": b.rounds, "Size": b.size, "Quick": b.size.Drain < workload.FullSize().Drain,
		"Engines": reports, "HasLatencies": slices.ContainsFunc(reports, func(r engineReport) bool { return len(r.Latencies) > 0 }), "Settings": b.settings(versions), "Claims": b.claimRows(), "Limits": b.limitRows(), "LimitDrains": b.limitDrainRows(),
		"Machines": b.machineRows(), "MachineNames": b.machineNames(), "Memory": b.memoryRows(), "Idle": b.idleRows(),
		"Spread": b.spread(), "GrowthDurability": b.engines["sqlite"].Durabilities()[0], "Failures": b.failures,
	})
	if err != nil {
		panic(err) // the template is ours
	}
	return out.String()
}

type engineReport struct {
	About     string
	Tables    []string // jobs a second
	Latencies []string // by percentiles
}

func (b *bench) engineReports(about map[string]string) []engineReport {
	var reports []engineReport
	for _, name := range b.engineNames() {
		report := engineReport{About: about[name]}
		engine := b.engines[name]
		for _, durability := range engine.Durabilities() {
			title := engine.Title()
			if name == "sqlite" {
				title += ", synchronous = " + string(durability)
			}
			if text := b.table(name, durability, title); text != "" {
				report.Tables = append(report.Tables, text)
			}
			if text := b.latencyTable(name, durability, title); text != "" {
				report.Latencies = append(report.Latencies, text)
			}
		}
		reports = append(reports, report)
	}
	return reports
}

// table has a row for each contender, and more for how ours stands to the raw engine and to the best peer.
func (b *bench) table(engine string, durability store.Durability, title string) string {
	var shown []workload.Workload
	for _, w := range b.workloads {
		if w.Title != "" && b.hasCells(engine, durability, w) {
			shown = append(shown, w)
		}
	}
	if len(shown) == 0 {
		return ""
	}
	header := []string{title}
	for _, w := range shown {
		header = append(header, w.Title)
	}
	rows := [][]string{header, slices.Repeat([]string{"---"}, len(header))}
	for _, name := range b.namesOf(engine) {
		rows = append(rows, b.row(name, shown, func(w workload.Workload) string {
			return b.best(engine, durability, w, name).format(w)
		}))
	}
	if slices.Contains(b.namesOf(engine), postroom.Name) {
		for _, raw := range []string{raw.Name, raw.LargeName, raw.SchemaName} {
			if !slices.Contains(b.namesOf(engine), raw) {
				continue
			}
			rows = append(rows, b.row("**"+postroom.Name+" ÷ "+raw+"**", shown, func(w workload.Workload) string {
				return ratio(w, b.best(engine, durability, w, postroom.Name), b.best(engine, durability, w, raw))
			}))
		}
		rows = append(rows, b.row("**"+postroom.Name+" ÷ best peer**", shown, func(w workload.Workload) string {
			peer := b.bestPeer(engine, durability, w)
			text := ratio(w, b.best(engine, durability, w, postroom.Name), peer)
			if peer.cell != nil && text != "–" {
				text += " (" + peer.cell.Contender + ")"
			}
			return text
		}))
	}
	return markdown(rows)
}

func (b *bench) row(name string, shown []workload.Workload, text func(w workload.Workload) string) []string {
	row := []string{name}
	for _, w := range shown {
		row = append(row, text(w))
	}
	return row
}

func (b *bench) namesOf(engine string) []string {
	var names []string
	for _, c := range b.contenders {
		if c.Engine == engine && !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// A found is the best cell for a place in a table, or none.
type found struct {
	cell     *cell
	figure   figure.Figure
	variants int
}

// best is the better of a contender's variants.
func (b *bench) best(engine string, durability store.Durability, w workload.Workload, names ...string) found {
	var best found
	for _, c := range b.cells {
		if c.Engine != engine || c.Durability != durability || c.Workload != w.Name || !slices.Contains(names, c.Contender) {
			continue
		}
		best.variants++
		measured := c.median()
		if best.cell == nil || better(w, measured, best.figure) {
			best.cell, best.figure = c, measured
		}
	}
	return best
}

func (b *bench) bestPeer(engine string, durability store.Durability, w workload.Workload) found {
	var peers []string
	for _, c := range b.contenders {
		if c.Peer {
			peers = append(peers, c.Name)
		}
	}
	return b.best(engine, durability, w, peers...)
}

func better(w workload.Workload, a, b figure.Figure) bool {
	if w.Latency != "" {
		return a.Latencies[w.Latency][0] < b.Latencies[w.Latency][0]
	}
	return a.Rate > b.Rate
}

// The percentiles in the column of a latency, by their places in Percentiles.
const columnFirst, columnSecond = 0, 2

func (f found) format(w workload.Workload) string {
	switch {
	case f.cell == nil:
		return "–"
	case w.Latency != "":
		p := f.figure.Latencies[w.Latency]
		return fmt.Sprintf("%s / %s ms", figure.Round2(p[columnFirst]), figure.Round2(p[columnSecond]))
	case f.variants > 1:
		return figure.Round3(f.figure.Rate) + " (" + f.cell.Variant + ")"
	}
	return figure.Round3(f.figure.Rate)
}

// ratio is above 1 where ours is better, also for latencies.
func ratio(w workload.Workload, ours, other found) string {
	if ours.cell == nil || other.cell == nil {
		return "–"
	}
	if w.Latency != "" {
		a, b := ours.figure.Latencies[w.Latency], other.figure.Latencies[w.Latency]
		return figure.Round2(b[columnFirst]/a[columnFirst]) + " / " + figure.Round2(b[columnSecond]/a[columnSecond])
	}
	return figure.Round2(ours.figure.Rate / other.figure.Rate)
}

func (b *bench) settings(versions map[string]string) [][]string {
	var rows [][]string
	for _, c := range b.contenders {
		if c.Setting == "" {
			continue
		}
		version := versions[c.Module]
		if c.Elsewhere != nil && c.Module != "" {
			version = c.Elsewhere.Version(c.Module)
		}
		rows = append(rows, []string{b.engines[c.Engine].Title(), c.Name, strings.TrimSpace(c.Module + " " + version),
			c.Setting})
	}
	return rows
}

func (b *bench) claimRows() [][]string {
	var rows [][]string
	for i := range b.ours.Claims {
		r := &b.ours.Claims[i]
		rows = append(rows, []string{b.engines[r.Engine].Title(), r.Table,
			figure.Round3(figure.Median(r.Empty)), figure.Round3(figure.Median(r.Filled)), figure.Round2(r.Ratio())})
	}
	return rows
}

func (b *bench) limitRows() [][]string {
	var rows [][]string
	for i := range b.ours.Limits {
		r := &b.ours.Limits[i]
		row := []string{b.engines[r.Engine].Title(), r.Keys, strconv.Itoa(r.By),
			fmt.Sprintf("%.1f", float64(r.Jobs)/float64(len(r.Claims)))}
		for _, microseconds := range figure.PercentilesOf(r.Claims) {
			text := "–"
			if microseconds > 0 {
				text = figure.Round2(microseconds / 1000)
			}
			row = append(row, text)
		}
		rows = append(rows, append(row, figure.Round2(figure.Percentile(r.Ends, 50)/1000)))
	}
	return rows
}

func (b *bench) memoryRows() [][]string {
	var rows [][]string
	for _, r := range b.ours.Memory {
		rows = append(rows, []string{figure.Count(r.N), fmt.Sprintf("%.1f", figure.Median(r.MiB))})
	}
	return rows
}

func (b *bench) idleRows() [][]string {
	var rows [][]string
	for _, r := range b.ours.Idle {
		rows = append(rows, []string{r.For.String(), fmt.Sprintf("%.2f", figure.Median(r.Percent))})
	}
	return rows
}

// spread is how far rounds are from their median, in words.
func (b *bench) spread() string {
	if b.rounds < 2 || len(b.cells) == 0 {
		return ""
	}
	var all []float64
	worst, most := b.cells[0], 0.0
	for _, c := range b.cells {
		middle, far := c.median().First(), 0.0
		for _, measured := range c.Rounds {
			far = max(far, 100*math.Abs(measured.First()-middle)/middle)
		}
		all = append(all, far)
		if far >= most {
			worst, most = c, far
		}
	}
	return fmt.Sprintf(
		"For half of the figures no round was farther than %.0f %% from the median; at worst it was %.0f %% (%s, %s on %s).",
		figure.Median(all), most, worst.Workload, worst.Contender, b.engines[worst.Engine].Title())
}
