package driver

import "time"

// A StatsQuery has the options of [Inspector.Stats]. Package queueadmin documents the statistics under the same names.
type StatsQuery struct {
	Now      time.Time
	Since    time.Time // the beginning of a bucket
	Bucket   time.Duration
	MaxCount int // the bound of each count, for each type and state
}

// Stats are the statistics of a queue at one moment.
type Stats struct {
	At       time.Time
	Bucket   time.Duration
	Since    time.Time
	MaxCount int
	Enqueued []int         // in each bucket, as TypeStats.Finished, among the newest MaxCount jobs
	Types    []TypeStats   // by name
	Workers  []WorkerStats // by id
}

// TypeStats are the statistics of one type of jobs.
type TypeStats struct {
	Type                        string
	Ready, Scheduled, Limited   int
	Moving, Waiting             int
	Running                     int
	Completed, Failed, Canceled int
	OldestDue                   time.Time
	Finished                    []Throughput
	Wait, Run                   Latency
}

// Throughput is the number of jobs that finished in a bucket.
type Throughput struct{ Completed, Failed, Canceled int }

// Latency describes the durations of a sample of jobs.
type Latency struct {
	Sample             int
	P50, P95, P99, Max time.Duration
}

// WorkerStats describes a worker and the number of its running jobs.
type WorkerStats struct {
	Worker
	Running int
}
