package sqlite

import "context"

// A front is the first of the jobs that wait for a limit key, of one type, stored as long as the key has room: claims find
// there in order what they may take of thousands of keys. It is a hint and no more. The jobs themselves are read from
// where they wait, and how much room there is from what runs.

// moving are the lanes whose fronts are to be stored anew: those of keys with room that were marked, or that do not begin
// where they did.
func (k *keyLimits) moving() (lanes []*lane) {
	for _, l := range k.lanes {
		if l.keyRoom.left > 0 && (k.marked(l.limitKey) || l.moved()) {
			lanes = append(lanes, l)
		}
	}
	return lanes
}

// moved tells, of a lane that has been read, whether it does not begin at its front.
func (l *lane) moved() bool {
	if l.read == 0 {
		return l.all
	}
	return l.taken > 0 || l.ready[0].id != l.front.id
}

// moveFronts stores where the lanes begin now that what was taken has started. Those of keys without room have no fronts,
// nor have lanes without jobs.
func (m *merge) moveFronts(ctx context.Context) error {
	lanes := m.keys.moving()
	if err := m.readFirst(ctx, lanes); err != nil {
		return err
	}
	var shut, open []string
	for key, s := range m.keys.standings {
		if s.left == 0 {
			shut = append(shut, key)
		} else if s.marked {
			open = append(open, key)
		}
	}
	var spent, moved jsonRows
	for _, l := range lanes {
		if len(l.ready) == 0 {
			spent.pair(l.limitKey, l.typeName)
			continue
		}
		first := &l.ready[0]
		moved.pair(l.limitKey, l.typeName)
		moved.int(first.priority)
		moved.text(first.notBefore)
		moved.text(first.id)
	}
	for _, step := range []struct{ statement, rows string }{
		{deleteFrontsOfKeys, list(shut)}, {deleteOldFronts, list(open)}, {deleteFronts, spent.end()}, {setFronts, moved.end()},
	} {
		if step.rows == "[]" {
			continue
		}
		if _, err := m.tx.ExecContext(ctx, step.statement, step.rows); err != nil {
			return err
		}
	}
	return nil
}

// readFirst reads the first place of the lanes of which it is not known.
func (m *merge) readFirst(ctx context.Context, lanes []*lane) error {
	var unknown []*lane
	for _, l := range lanes {
		if len(l.ready) == 0 && !l.all {
			l.taken = 0 // and started: it is there no more
			unknown = append(unknown, l)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	return m.readLanes(ctx, laneWaiting, unknown, 1)
}
