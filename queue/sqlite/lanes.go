package sqlite

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/joblimit"
)

// A claim merges lanes, each of which is in the order of claims: for each type its ready jobs, and for each limit key
// and type the jobs that wait for the key. A lane is read in batches, only as far as the merge needs. One statement
// reads all required lanes, because a statement is expensive and a place is cheap.

// A lane is the jobs that may be claimed of one type, or of one type and limit key.
type lane struct {
	kind     laneKind
	typeName string
	limitKey string // of a waiting lane

	bounds joblimit.Bounds // that of the key is known of a waiting lane that has been read

	ready []place
	head  *place // where it is said to begin; nil when that is not known
	after *place // what is to be read comes after it, or is it; nil when that is not known
	read  int    // how many places have been read, with those that are taken
	taken int
	all   bool // no more can be read
}

// A laneKind is the location of a lane's places.
type laneKind int

const (
	// laneReady has the jobs of a type that no limit key keeps back.
	laneReady laneKind = iota
	// laneHeads has the heads of a type: where waiting lanes begin. It makes them, and has no jobs of its own.
	laneHeads
	// laneWaiting has the jobs that wait for a limit key, of one type.
	laneWaiting
)

// statement is the one that reads lanes of the kind.
func (k laneKind) statement() string {
	switch k {
	case laneHeads:
		return readHeads
	case laneWaiting:
		return readWaiting
	default:
		return readReady
	}
}

// A place is the position of a job in the order of claims.
type place struct {
	priority  int
	notBefore string
	id        string
	row       int64  // of a job
	limitKey  string // of a head
}

func (p *place) before(q *place) bool {
	switch {
	case p.priority != q.priority:
		return p.priority > q.priority
	case p.notBefore != q.notBefore:
		return p.notBefore < q.notBefore
	}
	return p.id < q.id
}

func rowsOf(places []place) []int64 {
	rows := make([]int64, len(places))
	for i := range places {
		rows[i] = places[i].row
	}
	return rows
}

// next is what the lane has next; before it has been read, nothing that comes before what it has.
func (l *lane) next() *place {
	if len(l.ready) > 0 {
		return &l.ready[0]
	}
	return l.after
}

// last is the last that is known of the lane.
func (l *lane) last() *place {
	if n := len(l.ready); n > 0 {
		return &l.ready[n-1]
	}
	return l.after
}

// over reports whether the lane has no more jobs to take.
func (l *lane) over() bool { return l.bounds.Left() == 0 || (l.all && len(l.ready) == 0) }

func (l *lane) take() place {
	l.after = &l.ready[0]
	l.ready = l.ready[1:]
	l.taken++
	l.bounds.Take()
	return *l.after
}

// A merge takes the first places of lanes.
type merge struct {
	tx     *driver.WriteTx
	reader queryer // of lanes: the transaction, or before it begins another connection
	keys   *keyLimits
	wanted int
	lanes  byNext
	heads  bool // some are stored
	more   bool // some keys are left to be examined
	open   bool // some keys are left that have capacity and jobs
}

// newMerge begins with a lane for each type, one for its heads, and those of the keys that are freed or marked.
func newMerge(ctx context.Context, tx *driver.WriteTx, types []driver.TypeCapacity, t *txClaim) (m *merge, err error) {
	m = &merge{
		tx: tx, reader: tx, wanted: t.req.Limit, heads: t.todo.heads,
		keys: newKeyLimits(t.req.Now),
	}
	capacities := make(map[string]*joblimit.Capacity, len(types))
	for _, t := range types {
		shared := joblimit.NewCapacity(t.Capacity)
		capacities[t.Type] = shared
		m.lanes = append(m.lanes, &lane{kind: laneReady, typeName: t.Type, bounds: joblimit.Bounds{Type: shared}})
		if m.heads {
			m.lanes = append(m.lanes, &lane{kind: laneHeads, typeName: t.Type, bounds: joblimit.Bounds{Type: shared}})
		}
	}
	if len(t.freed) > 0 {
		if err := m.keys.admitSome(ctx, tx, t.freed); err != nil {
			return nil, err
		}
	}
	if t.todo.marks {
		m.more, err = m.keys.admit(ctx, tx, t.req.Limit)
	}
	for _, l := range m.keys.lanes {
		if l.bounds.Type = capacities[l.typeName]; l.bounds.Type != nil {
			m.lanes = append(m.lanes, l)
		}
	}
	return m, err
}

// run takes places until there are as many as are wanted, or no more.
func (m *merge) run(ctx context.Context) ([]place, error) {
	places := make([]place, 0, min(m.wanted, 100))
	heap.Init(&m.lanes)
	for most := m.keys.shut + 40 + 4*m.wanted; m.wanted > 0 && len(m.lanes) > 0; {
		if m.keys.shut > most { // their heads go now: the next claim finds the others
			m.more = true
			break
		}
		switch first := m.lanes[0]; {
		case first.over():
			heap.Pop(&m.lanes)
		case len(first.ready) == 0:
			if err := m.read(ctx, first.read); err != nil {
				return nil, err
			}
			heap.Init(&m.lanes)
		default:
			places = append(places, first.take())
			m.wanted--
			heap.Fix(&m.lanes, 0)
		}
	}
	return places, nil
}

// leave settles what has changed of limit keys by the start of jobs that were taken. When that is not all of them, keys
// may have more capacity than was thought, and are examined again.
func (m *merge) leave(ctx context.Context, jobs []driver.Job, all bool) error {
	err := errors.Join(m.keys.spend(ctx, m.tx, jobs), m.moveHeads(ctx))
	if err == nil && !all {
		err = m.keys.keys().write(ctx, m.tx)
	}
	return err
}

// read reads on in the lanes that may have one of the places that are wanted, and of which no more is known than of the
// one that has to be read.
func (m *merge) read(ctx context.Context, known int) error {
	for _, kind := range []laneKind{laneReady, laneHeads, laneWaiting} {
		lanes := m.lacking(kind, known)
		if kind == laneWaiting {
			if err := m.keys.enter(ctx, m.tx, lanes); err != nil {
				return err
			}
			lanes = slices.DeleteFunc(lanes, (*lane).over)
		}
		if len(lanes) == 0 {
			continue
		}
		n := max(4*known, 2*m.wanted/len(lanes)+1)
		if kind != laneHeads { // of which those count for nothing whose keys have no capacity
			most := 0
			for _, l := range lanes {
				most = max(most, l.taken+min(l.bounds.Left(), m.wanted))
			}
			n = min(n, most)
		}
		if err := m.readLanes(ctx, kind, lanes, n); err != nil {
			return err
		}
	}
	return nil
}

func (m *merge) lacking(kind laneKind, known int) (lanes []*lane) {
	for _, l := range m.lanes {
		if l.kind == kind && l.read <= known && !l.all && !l.over() {
			lanes = append(lanes, l)
		}
	}
	if len(lanes) == 0 {
		return nil
	}
	horizon := m.horizon()
	return slices.DeleteFunc(lanes, func(l *lane) bool {
		return horizon != nil && l.last() != nil &&
			horizon.before(l.last())
	})
}

// horizon is the last of as many known places as are wanted, nil when less are known: what comes after it is not
// wanted.
func (m *merge) horizon() *place {
	var known []*place
	for _, l := range m.lanes {
		for i := range l.ready[:min(len(l.ready), m.wanted)] {
			known = append(known, &l.ready[i])
		}
		if l.kind == laneWaiting && l.read == 0 && l.after != nil {
			known = append(known, l.after)
		}
	}
	if len(known) < m.wanted {
		return nil
	}
	slices.SortFunc(known, comparePlaces)
	return known[m.wanted-1]
}

func comparePlaces(p, q *place) int {
	switch {
	case p.before(q):
		return -1
	case q.before(p):
		return 1
	}
	return 0
}

// readLanes reads the first n places of each lane, those again that are known: that costs less than to find the way
// back.
func (m *merge) readLanes(ctx context.Context, kind laneKind, lanes []*lane, n int) error {
	names := list(typesOf(lanes))
	if kind == laneWaiting {
		names = keysAndTypesOf(lanes)
	}
	var text string
	if err := scanRow(ctx, m.reader, kind.statement(), []any{n, names}, &text); err != nil {
		return err
	}
	texts := strings.Split(text, "\n")
	if len(texts) != len(lanes) {
		return fmt.Errorf("sqlite: %d lanes were read of %d", len(texts), len(lanes))
	}
	for i, l := range lanes {
		places, err := parsePlaces(texts[i], kind == laneHeads)
		if err != nil {
			return err
		}
		l.all = len(places) < n
		m.extend(l, places)
		l.read = len(places)
	}
	return nil
}

func typesOf(lanes []*lane) []string {
	names := make([]string, len(lanes))
	for i, l := range lanes {
		names[i] = l.typeName
	}
	return names
}

func keysAndTypesOf(lanes []*lane) string {
	var rows jsonRows
	for _, l := range lanes {
		rows.pair(l.limitKey, l.typeName)
	}
	return rows.end()
}

// extend adds what has been read of the lane beyond what was.
func (m *merge) extend(l *lane, places []place) {
	if l.kind != laneHeads {
		l.ready = places[min(l.taken, len(places)):]
		return
	}
	for i := range places[min(l.read, len(places)):] {
		head := &places[l.read+i]
		l.after = head
		if _, marked := m.keys.marked[head.limitKey]; !marked {
			m.lanes = append(m.lanes, &lane{
				kind: laneWaiting, typeName: l.typeName, limitKey: head.limitKey,
				bounds: joblimit.Bounds{Type: l.bounds.Type}, head: head, after: head,
			})
		}
	}
}

var errPlace = errors.New("sqlite: a place in a lane cannot be read")

// parsePlaces reads what one lane has of the statements of laneKind.
func parsePlaces(text string, heads bool) ([]place, error) {
	if text == "" {
		return nil, nil
	}
	places := make([]place, 0, 1+strings.Count(text, "\t"))
	for one := range strings.SplitSeq(text, "\t") {
		var p place
		priority, one, _ := strings.Cut(one, " ")
		p.notBefore, one, _ = strings.Cut(one, " ")
		id, last, _ := strings.Cut(one, " ")
		p.id = id
		var errs [2]error
		p.priority, errs[0] = strconv.Atoi(priority)
		if heads {
			p.limitKey, errs[1] = parseText(last)
		} else {
			p.row, errs[1] = strconv.ParseInt(last, 10, 64)
		}
		if err := errors.Join(errs[:]...); err != nil {
			return nil, fmt.Errorf("%w: %w", errPlace, err)
		}
		places = append(places, p)
	}
	return places, nil
}

type byNext []*lane

func (h byNext) Len() int { return len(h) }
func (h byNext) Less(i, j int) bool {
	p, q := h[i].next(), h[j].next()
	switch {
	case q == nil:
		return false
	case p == nil:
		return true
	}
	return p.before(q)
}
func (h byNext) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *byNext) Push(any)     {} // lanes are added before the order is made anew
func (h *byNext) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
