package queueadmin

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// node adds what the node of the job waits for.
func (e *explainer) node(ctx context.Context) error {
	store, ok := driver.As[driver.FlowStore](e.q.DB().Driver())
	if !ok {
		return nil
	}
	id, _, _ := strings.Cut(e.job.Node, "/")
	nodes, err := store.Nodes(ctx, id)
	if err != nil {
		return err
	}
	edges, err := store.Edges(ctx, id)
	if err != nil {
		return err
	}
	byID := make(map[string]driver.Node, len(nodes))
	for _, n := range nodes {
		byID[n.ID] = n
	}
	for _, edge := range edges {
		if edge.To == e.job.Node && !edge.Passed {
			e.addf(CauseFlow, time.Time{}, "it waits for node %s of its flow: %s", byID[edge.From].Name,
				waitsFor(byID[edge.From], stands(nodes)))
		}
	}
	return nil
}

// waitsFor says what the node stands at, in a flow of which no other node runs, or one does.
func waitsFor(n driver.Node, stands bool) string {
	left := n.Total - n.Completed - n.Failed - n.Canceled
	switch {
	case n.State.Finished():
		retry := "retry the flow"
		if !stands {
			retry += " when no node of it runs any more"
		}
		return fmt.Sprintf("that has %s; %s",
			map[driver.FlowState]string{driver.FlowFailed: "failed", driver.FlowCanceled: "been canceled"}[n.State], retry)
	case n.State == driver.FlowWaiting:
		return fmt.Sprintf("that waits itself; %d of %d jobs have not ended", left, n.Total)
	}
	return fmt.Sprintf("%d of %d jobs have not ended", left, n.Total)
}

// flowsChecked bounds the flows that are checked, the newest first, among flowPages times as many that are looked at:
// one that stands still gets old.
const (
	flowsChecked = 1000
	flowPages    = 100
)

// openFlows returns the flows that have not ended, and whether there are any at all.
func openFlows(ctx context.Context, store driver.FlowStore) (open []driver.Flow, some bool, err error) {
	before := ""
	for range flowPages {
		page, err := store.Flows(ctx, before, flowsChecked)
		if err != nil {
			return nil, some, err
		}
		some = some || len(page) > 0
		for i := range page {
			if !page[i].State.Finished() {
				open = append(open, page[i])
			}
		}
		if len(page) < flowsChecked || len(open) >= flowsChecked {
			break
		}
		before = page[len(page)-1].ID
	}
	return open[:min(len(open), flowsChecked)], some, nil
}

// checkFlows finds flows that stand still: they have not ended, and no job of theirs is queued, running or scheduled
// that has not to wait for its node.
func checkFlows(ctx context.Context, q *queue.Queue) ([]Finding, error) {
	store, ok := driver.As[driver.FlowStore](q.DB().Driver())
	if !ok {
		return nil, nil
	}
	flows, some, err := openFlows(ctx, store)
	if err != nil {
		return nil, err
	}
	var findings []Finding
	now := driver.Now(q.DB().Driver())
	for i := range flows {
		f := &flows[i]
		if now.Sub(f.UpdatedAt) < longWait {
			continue
		}
		nodes, err := store.Nodes(ctx, f.ID)
		if err != nil {
			return nil, err
		}
		if stands(nodes) {
			findings = append(findings, Finding{Severity: SeverityWarning,
				Text: fmt.Sprintf("flow %s (%s) stands still since %s: none of its nodes runs", f.ID, f.Name,
					f.UpdatedAt.Format(time.RFC3339)),
				Hint:  "a job of a canceled node was retried by itself: retry the flow",
				Topic: TopicFlow, Subject: f.ID})
		}
	}
	tasks, err := store.TasksLeft(ctx)
	if err != nil {
		return nil, err
	}
	if some && tasks {
		findings = append(findings, Finding{Severity: SeverityOK,
			Text: "jobs of flows are being released, canceled or retried",
			Hint: "a Dispatcher that runs does so"})
	}
	return findings, nil
}

// OpenFlows counts the flows that have not ended, running and canceling, among the newest 1,000. A driver that stores
// no flows has none.
func OpenFlows(ctx context.Context, q *queue.Queue) (running, canceling int, err error) {
	store, ok := driver.As[driver.FlowStore](q.DB().Driver())
	if !ok {
		return 0, 0, nil
	}
	flows, err := store.Flows(ctx, "", flowsChecked)
	for i := range flows {
		switch flows[i].State {
		case driver.FlowRunning:
			running++
		case driver.FlowCanceling:
			canceling++
		}
	}
	return running, canceling, wrap("open flows", "", err)
}

// stands reports whether all nodes that have not ended wait.
func stands(nodes []driver.Node) bool {
	for _, n := range nodes {
		if !n.State.Finished() && n.State != driver.FlowWaiting {
			return false
		}
	}
	return true
}
