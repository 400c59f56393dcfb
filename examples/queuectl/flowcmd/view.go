package flowcmd

import (
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/flow"
)

// defaultPolicy is the policy that is not worth a word.
const defaultPolicy = driver.EdgeCancel

// A status is a flow as JSON.
type status struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	State      flow.State `json:"state"`
	Nodes      int        `json:"nodes"`
	Ended      int        `json:"ended"`
	Deadline   time.Time  `json:"deadline,omitzero"`
	CreatedAt  time.Time  `json:"created_at"`
	UpdatedAt  time.Time  `json:"updated_at"`
	FinishedAt time.Time  `json:"finished_at,omitzero"`
	NodeList   []node     `json:"node_list,omitempty"` // of the command show
}

func viewOf(f flow.Status) status {
	return status{
		ID: f.ID, Name: f.Name, State: f.State, Nodes: f.Nodes, Ended: f.Ended, Deadline: f.Deadline, CreatedAt: f.CreatedAt,
		UpdatedAt: f.UpdatedAt, FinishedAt: f.FinishedAt,
	}
}

// A node is a node of a flow as JSON.
type node struct {
	Name       string     `json:"name"`
	State      flow.State `json:"state"`
	Jobs       int        `json:"jobs"`
	Completed  int        `json:"completed"`
	Failed     int        `json:"failed"`
	Canceled   int        `json:"canceled"`
	After      []edge     `json:"after"`
	FinishedAt time.Time  `json:"finished_at,omitzero"`
}

type edge struct {
	Name   string      `json:"name"`
	Policy flow.Policy `json:"policy"`
	Passed bool        `json:"passed"`
}

func nodeOf(n flow.Node) node {
	return node{n.Name, n.State, n.Total, n.Completed, n.Failed, n.Canceled,
		printer.List(n.After, func(e flow.Edge) edge { return edge(e) }), n.FinishedAt}
}
