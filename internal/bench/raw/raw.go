// Package raw holds the engines without a queue: the statements that a queue cannot do without, as an upper bound.
package raw

import "github.com/postroom-go/postroom/internal/bench/contender"

// The names of contenders with which the report compares.
const (
	Name       = "raw"
	LargeName  = "raw, by 1,000"
	SchemaName = "raw on our schema"
)

// All returns the contenders.
func All() []contender.Contender { return append(sqliteContenders(), postgresContenders()...) }

// A shape is a table and the statements on it that a queue cannot do without.
type shape struct {
	// Table makes the table; it is empty for the tables of our queue.
	Table string
	// Insert is a statement up to its VALUES, Row the parameters of one job, and Args their values.
	Insert, Row string
	Args        func(j *storedJob) []any
	// Claim has the time and the number of jobs as parameters. It returns the identifier of each job for Complete, and
	// its payload.
	Claim string
	// Complete has the time and a list of the identifiers as parameters.
	Complete string
}

// A storedJob is the stored form of a job.
type storedJob struct {
	id, payload string
	priority    int
	state       string
	scheduled   any // nil, or a later time
	now         any
}

// contenders are the rows of a raw engine: on two tables, and by batches of two sizes.
func contenders(engine, module, setting string,
	open func(ours bool, batch int) contender.Contender) []contender.Contender {
	variants := []struct {
		name, setting string
		ours          bool
		batch         int
		groups        contender.Group
	}{
		{Name, setting, false, 100, contender.Everything},
		{LargeName, "the same, 1,000 jobs a statement", false, 1000, contender.Draining},
		{SchemaName, "the same by 100, on the tables of postroom with all their indexes", true, 100, contender.Everything},
		{SchemaName + ", by 1,000", "the same, 1,000 jobs a statement", true, 1000, contender.Draining},
	}
	var all []contender.Contender
	for _, v := range variants {
		c := open(v.ours, v.batch)
		c.Engine, c.Name, c.Setting, c.Groups = engine, v.name, v.setting, v.groups
		if v.name == Name {
			c.Module = module
		}
		all = append(all, c)
	}
	return all
}

// jobOf is a job of a kind; its time is written by format.
func jobOf(kind contender.Kind, id string, n int64) storedJob {
	j := storedJob{id: id, payload: string(contender.NewPayload(n).JSON()), state: "queued"}
	switch kind {
	case contender.Due:
	case contender.Finished:
		j.state = "completed"
	case contender.Scheduled:
		j.priority = 10
	}
	return j
}
