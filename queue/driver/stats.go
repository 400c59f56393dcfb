package driver

import "time"

// A StatsQuery says what [Inspector.Stats] reads. Package queueadmin documents the figures, under the same names.
type StatsQuery struct {
	Now      time.Time
	Since    time.Time // the beginning of a bucket
	Bucket   time.Duration
	MaxCount int // where counting stops, for each type and state
}

// Stats are the figures of a queue at one moment.
type Stats struct {
	At       time.Time
	Bucket   time.Duration
	Since    time.Time
	MaxCount int
	Types    []TypeStats   // by name
	Workers  []WorkerStats // by id
}

// TypeStats are the figures of one type of jobs.
type TypeStats struct {
	Type                        string
	Ready, Scheduled, Limited   int
	Moving                      int
	Running                     int
	Completed, Failed, Canceled int
	OldestDue                   time.Time
	Finished                    []Throughput
	Wait, Run                   Latency
}

// Throughput is how many jobs have finished in a bucket.
type Throughput struct{ Completed, Failed, Canceled int }

// Latency is how long jobs of a sample took.
type Latency struct {
	Sample             int
	P50, P95, P99, Max time.Duration
}

// WorkerStats is a worker and how many jobs it runs.
type WorkerStats struct {
	Worker
	Running int
}
