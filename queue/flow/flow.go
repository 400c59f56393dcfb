package flow

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// maxName bounds the name of a flow, and of a node with those of the flows that contain it, in bytes.
const maxName = 200

// ErrInvalid reports a flow that cannot be enqueued. The error says why.
var ErrInvalid = errors.New("invalid flow")

// A Flow is a graph of jobs to be enqueued. Its nodes are added with [Flow.Add], [Flow.AddMany] and [Flow.AddFlow], in
// any order. The errors of these calls are those of [Enqueue], which checks the whole graph.
type Flow struct {
	name  string
	opts  Options
	nodes []node
	errs  []error
}

// Options are the options of a flow. The zero Options use the defaults.
type Options struct {
	// Deadline is the time after which no job of the flow starts: those that are queued then are canceled, and so is
	// what depends on them. A job with an earlier ExpiresAt keeps it, and no hook of queue.Config.OnEnqueue makes it
	// later than the Deadline. Zero: none.
	Deadline time.Time
}

// A node is a set of jobs that start together.
type node struct {
	name     string
	jobs     iter.Seq[queue.NewJob] // nil: none
	after    []edge
	deadline time.Time
}

// An edge names a node that another one waits for.
type edge struct {
	name   string
	policy driver.EdgePolicy
}

// New returns an empty flow. The name is for people: visible characters and spaces without a slash, at most 200 bytes.
// opts may be nil.
func New(name string, opts *Options) *Flow {
	f := &Flow{name: name}
	if opts != nil {
		f.opts = *opts
	}
	return f
}

// An Option is an option of a node.
type Option func(*node)

// After makes a node wait until all jobs of the named nodes have completed. If one of them fails or is canceled, the
// node is canceled.
func After(names ...string) Option { return after(driver.EdgeCancel, names) }

// AfterEnd makes a node wait until all jobs of the named nodes have ended, in whatever way. Its handlers see how with
// [CountsOf].
func AfterEnd(names ...string) Option { return after(driver.EdgeRun, names) }

// AfterOrFail is [After], but if a job of the named nodes fails or is canceled, all nodes of the flow are canceled that
// have not ended.
func AfterOrFail(names ...string) Option { return after(driver.EdgeFail, names) }

func after(policy driver.EdgePolicy, names []string) Option {
	return func(n *node) {
		for _, name := range names {
			n.after = append(n.after, edge{name, policy})
		}
	}
}

// Add adds a node of one job. The name is unique in the flow: letters, digits and other visible characters except the
// slash; with the names of the flows that contain it, it has at most 200 bytes.
func (f *Flow) Add(name string, job queue.NewJob, opts ...Option) {
	f.add(name, slices.Values([]queue.NewJob{job}), opts)
}

// AddMany adds a node of any number of jobs, which may run at the same time. [Enqueue] iterates over them once, while
// it writes. A node without jobs, for which jobs may be nil, ends as soon as it has waited, unless a handler has added
// some with [AddTx].
func (f *Flow) AddMany(name string, jobs iter.Seq[queue.NewJob], opts ...Option) {
	f.add(name, jobs, opts)
}

func (f *Flow) add(name string, jobs iter.Seq[queue.NewJob], opts []Option) {
	n := node{name: name, jobs: jobs, deadline: f.opts.Deadline}
	for _, opt := range opts {
		opt(&n)
	}
	if err := validName("the node", name); err != nil {
		f.errs = append(f.errs, err)
	}
	f.nodes = append(f.nodes, n)
}

// AddFlow adds the nodes of another flow under names that begin with the given one and a slash. Those that wait for
// nothing wait as the options say. A node that waits for the name waits for all of them: the name is that of a node
// without jobs, which completes when the last nodes of the other flow have completed. A flow without nodes is this node
// alone, which waits as the options say. Later changes to the other flow have no effect.
func (f *Flow) AddFlow(name string, other *Flow, opts ...Option) {
	if other == nil {
		f.errs = append(f.errs, fmt.Errorf("the flow of node %q is nil: make one with flow.New", name))
		return
	}
	if len(other.nodes) == 0 {
		f.errs = append(f.errs, other.errs...)
		f.add(name, nil, opts)
		return
	}
	last := make(map[string]bool)
	for _, n := range other.nodes {
		last[n.name] = true
	}
	for _, n := range other.nodes {
		for _, e := range n.after {
			delete(last, e.name)
		}
	}
	for _, err := range append(slices.Clone(other.errs), other.check(nil)) {
		if err != nil {
			f.errs = append(f.errs, fmt.Errorf("node %q: %w", name, err))
		}
	}
	var join []string
	for _, n := range other.nodes {
		if last[n.name] {
			join = append(join, name+"/"+n.name)
		}
		f.nodes = append(f.nodes, n.within(name, f.opts.Deadline, opts))
	}
	f.add(name, nil, []Option{After(join...)})
}

// within returns the node as part of a flow that contains its own.
func (n node) within(name string, deadline time.Time, opts []Option) node {
	n.name, n.deadline = name+"/"+n.name, earlier(n.deadline, deadline)
	n.after = slices.Clone(n.after)
	for i := range n.after {
		n.after[i].name = name + "/" + n.after[i].name
	}
	if len(n.after) == 0 {
		for _, opt := range opts {
			opt(&n)
		}
	}
	return n
}

// earlier returns the earlier of two times, of which the zero one is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

func validName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%s has an empty name", what)
	case len(name) > maxName:
		return fmt.Errorf("%s %.20q… has a name of %d bytes; at most %d are allowed", what, name, len(name), maxName)
	case !utf8.ValidString(name), strings.ContainsFunc(name, func(r rune) bool { return r == '/' || !unicode.IsPrint(r) }):
		return fmt.Errorf("%s %q has a name with a slash or a character that cannot be seen", what, name)
	}
	return nil
}

// validate returns an error that is [ErrInvalid] unless the graph can be enqueued. Its nodes may wait for those that
// exist.
func (f *Flow) validate(existing map[string]bool) error {
	if f == nil {
		return fmt.Errorf("%w: it is nil: make one with flow.New", ErrInvalid)
	}
	err := errors.Join(f.errs...)
	if err == nil && existing == nil {
		err = validName("the flow", f.name)
	}
	if err == nil && len(f.nodes) == 0 {
		err = errors.New("it has no nodes: add one")
	}
	if err == nil {
		err = f.check(existing)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

// check returns an error if two nodes have the same name, one waits for a node that is not there, or some wait for each
// other.
func (f *Flow) check(existing map[string]bool) error {
	places := make(map[string]int, len(f.nodes))
	for i, n := range f.nodes {
		if _, ok := places[n.name]; ok || existing[n.name] {
			return fmt.Errorf("two nodes have the name %q: a name is unique in its flow", n.name)
		}
		if len(n.name) > maxName {
			return fmt.Errorf("node %.20q… has a name of %d bytes; at most %d are allowed", n.name, len(n.name), maxName)
		}
		places[n.name] = i
	}
	for _, n := range f.nodes {
		for i, e := range n.after {
			if _, ok := places[e.name]; !ok && !existing[e.name] {
				return fmt.Errorf("node %q waits for %q, and there is no such node", n.name, e.name)
			}
			if slices.ContainsFunc(n.after[:i], func(o edge) bool { return o.name == e.name }) {
				return fmt.Errorf("node %q waits for %q twice: name it once", n.name, e.name)
			}
		}
	}
	return f.acyclic(places)
}

// acyclic returns an error that names the nodes of a cycle, if there is one. It does not recurse: a chain may be long.
func (f *Flow) acyclic(places map[string]int) error {
	waits, before := make([]int, len(f.nodes)), make([][]int, len(f.nodes))
	var free []int
	for i, n := range f.nodes {
		for _, e := range n.after {
			if p, ok := places[e.name]; ok {
				waits[i]++
				before[p] = append(before[p], i)
			}
		}
		if waits[i] == 0 {
			free = append(free, i)
		}
	}
	done := 0
	for ; len(free) > 0; done++ {
		n := free[len(free)-1]
		free = free[:len(free)-1]
		for _, next := range before[n] {
			if waits[next]--; waits[next] == 0 {
				free = append(free, next)
			}
		}
	}
	if done == len(f.nodes) {
		return nil
	}
	at := slices.IndexFunc(waits, func(n int) bool { return n > 0 })
	return fmt.Errorf("the nodes wait for each other in a circle: %s", f.circle(at, places, waits))
}

// circle walks from a node that waits for ever to those that it waits for, until it comes to one again.
func (f *Flow) circle(at int, places map[string]int, waits []int) string {
	var path []string
	for !slices.Contains(path, f.nodes[at].name) {
		path = append(path, f.nodes[at].name)
		for _, e := range f.nodes[at].after {
			if p, ok := places[e.name]; ok && waits[p] > 0 {
				at = p
				break
			}
		}
	}
	from := slices.Index(path, f.nodes[at].name)
	return strings.Join(append(path[from:], f.nodes[at].name), " waits for ")
}
