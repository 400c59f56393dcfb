package queueui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/internal/webui"
	"github.com/postroom-go/postroom/queue/flow"
)

// A picture shows each node if there are at most maxBoxes of them, with at most maxLines edges. Of a larger flow it
// shows the levels, so many to a box that there are no more boxes.
const (
	maxBoxes = 200
	maxLines = 2000
)

// The measures of a picture, in pixels.
const (
	boxWidth  = 172
	boxHeight = 46
	lineHigh  = 16 // of each further line of a box
	acrossGap = 52
	downGap   = 14
	edgeSpace = 4 // around the picture
	maxLetter = 22
)

// A picture is a graph of a flow: levels from left to right, so that each node is to the right of those it waits for.
type picture struct {
	Width, Height int
	Boxes         []box
	Lines         []line
	Levels        int
	Folded        int // how many levels a box is; 0: it is a node
	Summary       string
}

// A box is a node, or a level of a large flow.
type box struct {
	X, Y, W, H int
	Node       string // empty for a level
	Name       string
	State      flow.State
	Rows       []row
	Title      string
}

// A row is a line of text in a box.
type row struct {
	Y    int
	Text string
}

// A line is an edge.
type line struct {
	Path   string
	Passed bool
	Title  string
}

func drawFlow(nodes []flow.Node) *picture {
	levels := levelsOf(nodes)
	p := &picture{Levels: len(levels)}
	edges, total := 0, make(map[flow.State]int)
	for i := range nodes {
		edges += len(nodes[i].After)
		total[nodes[i].State]++
	}
	if len(nodes) > maxBoxes || edges > maxLines {
		p.Folded = (len(levels) + maxBoxes - 1) / maxBoxes
		p.fold(levels)
	} else {
		p.draw(levels)
	}
	p.Summary = fmt.Sprintf("%s in %s: %s", counted(len(nodes), "node"), counted(len(levels), "level"),
		strings.Join(countWords(total), ", "))
	return p
}

func counted(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return webui.Count(n, 0) + " " + thing
}

// levelsOf puts each node into the level after the last of those that it waits for.
func levelsOf(nodes []flow.Node) [][]flow.Node {
	later := make(map[string][]int)
	waits, level := make([]int, len(nodes)), make([]int, len(nodes))
	for i := range nodes {
		waits[i] = len(nodes[i].After)
		for _, e := range nodes[i].After {
			later[e.Name] = append(later[e.Name], i)
		}
	}
	var open []int
	for i := range nodes {
		if waits[i] == 0 {
			open = append(open, i)
		}
	}
	var levels [][]flow.Node
	for len(open) > 0 {
		i := open[0]
		open = open[1:]
		for len(levels) <= level[i] {
			levels = append(levels, nil)
		}
		levels[level[i]] = append(levels[level[i]], nodes[i])
		for _, j := range later[nodes[i].Name] {
			level[j] = max(level[j], level[i]+1)
			if waits[j]--; waits[j] == 0 {
				open = append(open, j)
			}
		}
	}
	return levels
}

func (p *picture) draw(levels [][]flow.Node) {
	place := make(map[string]int) // in its level
	at := make(map[string]*box)
	for x, level := range levels {
		middle := func(n flow.Node) float64 {
			sum := 0.0
			for _, e := range n.After {
				sum += float64(place[e.Name])
			}
			return sum / float64(max(1, len(n.After)))
		}
		slices.SortStableFunc(level, func(a, b flow.Node) int {
			return cmp.Or(cmp.Compare(middle(a), middle(b)), cmp.Compare(a.Name, b.Name))
		})
		for y, n := range level {
			place[n.Name] = y
			b := p.box(x, y*(boxHeight+downGap), boxHeight)
			b.Node, b.Name, b.State = n.Name, shorten(n.Name), n.State
			b.Rows = []row{{Y: b.Y + 36, Text: mark(string(n.State)) + " " + string(n.State) + progress(n)}}
			b.Title = fmt.Sprintf("%s: %s, %s", n.Name, n.State, n.Counts)
			at[n.Name] = &b
			p.Boxes = append(p.Boxes, b)
		}
	}
	for _, level := range levels {
		for _, n := range level {
			for _, e := range n.After {
				p.Lines = append(p.Lines, between(at[e.Name], at[n.Name], e.Passed))
			}
		}
	}
}

// progress is how many jobs of a node have ended, where it has several.
func progress(n flow.Node) string {
	if n.Total == 1 {
		return ""
	}
	return fmt.Sprintf(", %s of %s", webui.Count(n.Total-n.Left(), 0), webui.Count(n.Total, 0))
}

func (p *picture) fold(levels [][]flow.Node) {
	var before *box
	passed := false // all of before has ended
	for some := range slices.Chunk(levels, max(1, p.Folded)) {
		all := slices.Concat(some...)
		states := make(map[flow.State]int)
		for _, n := range all {
			states[n.State]++
		}
		words := countWords(states)
		b := p.box(len(p.Boxes), 0, boxHeight+lineHigh*(len(words)-1))
		b.Name = p.named(len(p.Boxes)*p.Folded, len(some), len(all))
		b.State = worst(states)
		for i, word := range words {
			b.Rows = append(b.Rows, row{Y: b.Y + 36 + i*lineHigh, Text: word})
		}
		b.Title = b.Name + ": " + strings.Join(words, ", ")
		if before != nil {
			p.Lines = append(p.Lines, between(before, &b, passed))
		}
		p.Boxes = append(p.Boxes, b)
		before = &b
		passed = !slices.ContainsFunc(all, func(n flow.Node) bool { return !n.State.Finished() })
	}
}

// named names so many levels after the first ones. A box has room for this.
func (p *picture) named(first, levels, nodes int) string {
	if p.Folded == 1 {
		return "Level " + webui.Count(first+1, 0) + ": " + counted(nodes, "node")
	}
	return fmt.Sprintf("Levels %s–%s", webui.Count(first+1, 0), webui.Count(first+levels, 0))
}

// flowStates are the states of nodes, first those that need a person.
var flowStates = []flow.State{flow.Failed, flow.Canceled, flow.Retrying, flow.Running, flow.Waiting, flow.Completed}

func countWords(states map[flow.State]int) (words []string) {
	for _, s := range flowStates {
		if states[s] > 0 {
			words = append(words, fmt.Sprintf("%s %s %s", mark(string(s)), webui.Count(states[s], 0), s))
		}
	}
	return words
}

func worst(states map[flow.State]int) flow.State {
	for _, s := range flowStates {
		if states[s] > 0 {
			return s
		}
	}
	return flow.Waiting
}

// box makes the box of a level, and makes room for it.
func (p *picture) box(level, y, height int) box {
	b := box{X: edgeSpace + level*(boxWidth+acrossGap), Y: edgeSpace + y, W: boxWidth, H: height}
	p.Width, p.Height = max(p.Width, b.X+b.W+edgeSpace), max(p.Height, b.Y+b.H+edgeSpace)
	return b
}

// between is the edge from one box to another one.
func between(from, to *box, passed bool) line {
	x1, y1, x2, y2 := from.X+from.W, from.Y+min(from.H, boxHeight)/2, to.X, to.Y+min(to.H, boxHeight)/2
	bend := acrossGap / 2
	return line{Passed: passed, Title: from.Name + " before " + to.Name,
		Path: fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1+bend, y1, x2-bend, y2, x2, y2)}
}

func shorten(name string) string {
	letters := []rune(webui.Printable(name, webui.MaxLine))
	if len(letters) <= maxLetter {
		return string(letters)
	}
	return string(letters[:maxLetter-1]) + "…"
}
