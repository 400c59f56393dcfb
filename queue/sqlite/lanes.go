package sqlite

import (
	"container/heap"
	"context"
	"database/sql"

	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// A lane is what may be claimed of one type, in order. Lanes are merged in order of their heads, and read on in portions
// only as far as the merge gets.
type lane struct {
	name  string
	room  int
	read  int // how many have been read
	ready []place
	all   bool // no more can be read
	// limited: the limit keys are wanted, too. They are not in the index.
	limited bool
}

// A place is where a job stands in the order of claims.
type place struct {
	priority  int
	notBefore string
	id        string
	limitKey  string // empty without one, or when no key is limited
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

func idsOf(places []place) []string {
	ids := make([]string, len(places))
	for i := range places {
		ids[i] = places[i].id
	}
	return ids
}

// lanesOf returns the types that have something to claim, each with its head, as many as may come into a claim.
func lanesOf(ctx context.Context, tx *queue.Tx, types []queue.TypeRoom, limit int, limited bool) ([]*lane, error) {
	names := make([]string, len(types))
	rooms := make(map[string]int, len(types))
	for i, t := range types {
		names[i], rooms[t.Type] = t.Type, t.Room
	}
	query := selectHeads
	if limited {
		query = selectLimitedHeads
	}
	rows, err := tx.QueryxContext(ctx, query, list(names), limit)
	return jobrow.Collect(rows, err, func(row jobrow.Scanner) (*lane, error) {
		l, head := &lane{read: 1, limited: limited}, place{}
		var key sql.NullString
		err := row.Scan(&l.name, &head.priority, &head.notBefore, &head.id, &key)
		head.limitKey = key.String
		l.room, l.ready = rooms[l.name], []place{head}
		return l, err
	})
}

// merge returns the first jobs of all types, at most limit.
func merge(ctx context.Context, tx *queue.Tx, types []queue.TypeRoom, limit int, limited bool) ([]place, error) {
	lanes, err := lanesOf(ctx, tx, types, limit, limited)
	if err != nil {
		return nil, err
	}
	h := byHead(lanes)
	heap.Init(&h)
	places := make([]place, 0, limit)
	for len(places) < limit && len(h) > 0 {
		first := h[0]
		places = append(places, first.ready[0])
		first.ready = first.ready[1:]
		first.room--
		if err := first.fill(ctx, tx, limit-len(places)); err != nil {
			return nil, err
		}
		if len(first.ready) == 0 {
			heap.Pop(&h)
		} else {
			heap.Fix(&h, 0)
		}
	}
	return places, nil
}

// fill reads as many places of the lane as have been read of it: one where many lanes share the claim, many where one has
// the most of it.
func (l *lane) fill(ctx context.Context, tx *queue.Tx, wanted int) error {
	if l.room == 0 {
		l.ready = nil
	}
	if len(l.ready) > 0 || l.all || l.room == 0 || wanted == 0 {
		return nil
	}
	n := min(l.room, wanted, l.read)
	query := selectReady
	if l.limited {
		query = selectLimitedReady
	}
	rows, err := tx.QueryxContext(ctx, query, l.name, n, l.read)
	l.ready, err = jobrow.Collect(rows, err, func(row jobrow.Scanner) (p place, err error) {
		var key sql.NullString
		err = row.Scan(&p.priority, &p.notBefore, &p.id, &key)
		p.limitKey = key.String
		return p, err
	})
	l.all = len(l.ready) < n
	l.read += len(l.ready)
	return err
}

type byHead []*lane

func (h byHead) Len() int           { return len(h) }
func (h byHead) Less(i, j int) bool { return h[i].ready[0].before(&h[j].ready[0]) }
func (h byHead) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *byHead) Push(any)          {} // nothing is added to a merge
func (h *byHead) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
