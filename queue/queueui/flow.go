package queueui

import (
	"context"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/flow"
)

// A flowsPage is a list of flows, newest first.
type flowsPage struct {
	Flows []flow.Status
	First bool
	Older template.URL // the query of the next page; empty on the last
}

func (h *Handler) flows(ctx context.Context, u *url.URL) (*view, error) {
	before := u.Query().Get("before")
	if !isText(before) {
		return nil, badRequestError(notText)
	}
	list, err := flow.List(ctx, h.q, before, pageSize+1)
	if err != nil {
		return nil, err
	}
	p := &flowsPage{Flows: list, First: before == ""}
	if len(list) > pageSize {
		p.Flows = list[:pageSize]
		p.Older = encoded(url.Values{"before": {p.Flows[pageSize-1].ID}})
	}
	return &view{name: "flows", title: "Flows", live: self(u), data: p}, nil
}

// maxNodesShown bounds the nodes that the page of a flow lists, and maxNodeJobs the jobs of the node that it shows.
const (
	maxNodesShown = 500
	maxNodeJobs   = 100
)

// A flowPage is one flow: its picture, its nodes, and the jobs of one of them.
type flowPage struct {
	Flow      *flow.Status
	Picture   *picture
	Nodes     []flow.Node
	LeftOut   int // nodes that are not listed
	Node      string
	Jobs      []*queue.Job
	MoreJobs  bool
	CanCancel bool
	CanRetry  bool
}

// stands reports whether all nodes that are left wait for others that have ended: a job of one was retried by itself.
func stands(status *flow.Status, nodes []flow.Node) bool {
	return status.State == flow.Running && !slices.ContainsFunc(nodes, func(n flow.Node) bool {
		return !n.State.Finished() && n.State != flow.Waiting
	})
}

func (h *Handler) flow(ctx context.Context, u *url.URL) (*view, error) {
	id := strings.TrimPrefix(u.Path, "/flows/")
	if !isText(id) {
		return nil, flow.ErrNotFound
	}
	status, err := flow.Get(ctx, h.q, id)
	if err != nil {
		return nil, err
	}
	nodes, err := flow.Nodes(ctx, h.q, id)
	if err != nil {
		return nil, err
	}
	p := &flowPage{Flow: status, Picture: drawFlow(nodes), Node: u.Query().Get("node"),
		CanCancel: !status.State.Finished(),
		CanRetry:  status.State == flow.Failed || status.State == flow.Canceled || stands(status, nodes)}
	// What needs a person comes first.
	order := []flow.State{flow.Failed, flow.Canceled, flow.Retrying, flow.Running, flow.Waiting, flow.Completed}
	slices.SortStableFunc(nodes, func(a, b flow.Node) int {
		return slices.Index(order, a.State) - slices.Index(order, b.State)
	})
	p.Nodes = nodes[:min(len(nodes), maxNodesShown)]
	p.LeftOut = len(nodes) - len(p.Nodes)
	if slices.ContainsFunc(nodes, func(n flow.Node) bool { return n.Name == p.Node }) {
		for job, err := range flow.Jobs(ctx, h.q, id, p.Node) {
			if err != nil {
				return nil, err
			}
			if p.MoreJobs = len(p.Jobs) == maxNodeJobs; p.MoreJobs {
				break
			}
			p.Jobs = append(p.Jobs, job)
		}
	}
	return &view{name: "flow", title: "Flow " + status.Name, live: self(u), data: p}, nil
}
