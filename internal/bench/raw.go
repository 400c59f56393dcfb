package main

// A rawShape is a table and the statements on it that a queue cannot do without.
type rawShape struct {
	// Table makes the table; it is empty for the tables of our queue.
	Table string
	// Insert is a statement up to its VALUES, Row the parameters of one job, and Args their values.
	Insert, Row string
	Args        func(j *rawJob) []any
	// Claim has the time and the number of jobs as parameters. It returns the identifier of each job for Complete, and
	// its payload.
	Claim string
	// Complete has the time and a list of the identifiers as parameters.
	Complete string
}

// A rawJob is the stored form of a job.
type rawJob struct {
	id, payload string
	priority    int
	state       string
	scheduled   any // nil, or a later time
	now         any
}

// rawContenders are the rows of a raw engine: on two tables, and by batches of two sizes.
func rawContenders(engine, module, setting string, open func(ours bool, batch int) Contender) []Contender {
	variants := []struct {
		name, setting string
		ours          bool
		batch         int
		groups        Group
	}{
		{rawName, setting, false, 100, Everything},
		{rawLargeName, "the same, 1,000 jobs a statement", false, 1000, Draining},
		{rawSchemaName, "the same by 100, on the tables of postroom with all their indexes", true, 100, Everything},
		{rawSchemaName + ", by 1,000", "the same, 1,000 jobs a statement", true, 1000, Draining},
	}
	var all []Contender
	for _, v := range variants {
		c := open(v.ours, v.batch)
		c.Engine, c.Name, c.Setting, c.Groups = engine, v.name, v.setting, v.groups
		if v.name == rawName {
			c.Module = module
		}
		all = append(all, c)
	}
	return all
}

// rawJobOf is a job of a kind; its time is written by format.
func rawJobOf(kind Kind, id string, n int64) rawJob {
	j := rawJob{id: id, payload: string(newPayload(n).JSON()), state: "queued"}
	switch kind {
	case Due:
	case Finished:
		j.state = "completed"
	case Scheduled:
		j.priority = 10
	}
	return j
}
