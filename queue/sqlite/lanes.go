package sqlite

import (
	"container/heap"
	"context"

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
}

// A place is where a job stands in the order of claims.
type place struct {
	priority  int
	notBefore string
	id        string
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

// lanesOf returns the types that have something to claim, each with its head. A single type needs no look.
func lanesOf(ctx context.Context, tx *queue.Tx, types []queue.TypeRoom) ([]*lane, error) {
	if len(types) == 1 {
		return []*lane{{name: types[0].Type, room: types[0].Room}}, nil
	}
	rooms := make(map[string]int, len(types))
	for _, t := range types {
		rooms[t.Type] = t.Room
	}
	if len(rooms) == 0 {
		return nil, nil
	}
	rows, err := tx.QueryxContext(ctx, selectHeads)
	heads, err := jobrow.Collect(rows, err, func(row jobrow.Scanner) (*lane, error) {
		l, head := &lane{read: 1}, place{}
		err := row.Scan(&l.name, &head.priority, &head.notBefore, &head.id)
		l.ready = []place{head}
		return l, err
	})
	if err != nil {
		return nil, err
	}
	var lanes []*lane
	for _, l := range heads {
		if l.room = rooms[l.name]; l.room > 0 {
			lanes = append(lanes, l)
		}
	}
	return lanes, nil
}

// merge returns the ids of the first jobs of all lanes, at most limit.
func merge(ctx context.Context, tx *queue.Tx, lanes []*lane, limit int) ([]string, error) {
	h := byHead(lanes)
	heap.Init(&h)
	ids := make([]string, 0, limit)
	for len(ids) < limit && len(h) > 0 {
		first := h[0]
		ids = append(ids, first.ready[0].id)
		first.ready = first.ready[1:]
		first.room--
		if err := first.fill(ctx, tx, limit-len(ids)); err != nil {
			return nil, err
		}
		if len(first.ready) == 0 {
			heap.Pop(&h)
		} else {
			heap.Fix(&h, 0)
		}
	}
	return ids, nil
}

// portion is how many places of a lane are read at a time.
const portion = 16

func (l *lane) fill(ctx context.Context, tx *queue.Tx, wanted int) error {
	if l.room == 0 {
		l.ready = nil
	}
	if len(l.ready) > 0 || l.all || l.room == 0 || wanted == 0 {
		return nil
	}
	n := min(l.room, wanted, max(portion, l.read))
	rows, err := tx.QueryxContext(ctx, selectReady, l.name, n, l.read)
	l.ready, err = jobrow.Collect(rows, err, func(row jobrow.Scanner) (p place, err error) {
		err = row.Scan(&p.priority, &p.notBefore, &p.id)
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
func (h *byHead) Push(x any)        { *h = append(*h, x.(*lane)) }
func (h *byHead) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
