package idle

import (
	"context"
	"strings"

	"github.com/postroom-go/postroom/queue/driver"
)

// A look examines jobs that are left, and remembers what it has read of their sequences and flows.
type look struct {
	driver driver.Driver
	limits []driver.LimitStatus
	firsts map[string]bool // whether the first of a sequence can start
	flows  map[string]flowLeft
}

// A flowLeft is where a flow stands.
type flowLeft struct {
	waits  map[string]bool // by node: it has not opened
	goesOn bool            // a job of it runs or may start, or a node has just ended
}

func (i *Check) look(limits []driver.LimitStatus) *look {
	return &look{driver: i.Driver, limits: limits, firsts: make(map[string]bool), flows: make(map[string]flowLeft)}
}

// waits reports whether a job's node waits, and nothing of its flow runs or may start without an intervention.
func (l *look) waits(ctx context.Context, j *driver.Job) (bool, error) {
	store, ok := driver.As[driver.FlowStore](l.driver)
	if j.Node == "" || !ok {
		return false, nil
	}
	id, _, _ := strings.Cut(j.Node, "/")
	flow, known := l.flows[id]
	if !known {
		nodes, err := store.Nodes(ctx, id)
		if err != nil {
			return false, err
		}
		if flow, err = l.flowLeft(ctx, store, nodes); err != nil {
			return false, err
		}
		l.flows[id] = flow
	}
	return flow.waits[j.Node] && !flow.goesOn, nil
}

func (l *look) flowLeft(ctx context.Context, store driver.FlowStore, nodes []driver.Node) (flow flowLeft, err error) {
	flow.waits = make(map[string]bool)
	for n := range nodes {
		node := &nodes[n]
		flow.waits[node.ID] = node.Waits > 0
		flow.goesOn = flow.goesOn || node.Moving
		if flow.goesOn || node.State.Finished() || node.Waits > 0 {
			continue
		}
		stands, err := l.stands(ctx, store, node.ID)
		if err != nil {
			return flow, err
		}
		flow.goesOn = !stands
	}
	return flow, nil
}

// stands reports whether jobs of a node that has opened are left, and none of them runs or may start.
func (l *look) stands(ctx context.Context, store driver.FlowReader, node string) (stands bool, err error) {
	after := ""
	for {
		jobs, err := store.NodeJobs(ctx, node, after, listed)
		if err != nil {
			return false, err
		}
		for n := range jobs {
			j := &jobs[n]
			if j.State == driver.StateRunning || j.State == driver.StateQueued && l.released(j) {
				return false, nil
			}
			stands = stands || j.State == driver.StateQueued
		}
		if len(jobs) < listed {
			return stands, nil
		}
		after = jobs[len(jobs)-1].ID
	}
}

// released reports whether a queued job that waits for no other may start without an intervention.
func (l *look) released(j *driver.Job) bool {
	return j.NotBefore.Before(driver.Never) && !pausedType(l.limits, j.Type) && !pausedKey(l.limits, j.LimitKey)
}
