// Package queuehealth tells a supervisor and a monitor how a queue is: [Handler] serves health checks over HTTP, and
// [Measure] reports gauges to OpenTelemetry, for alarms and dashboards.
//
//	h, err := queuehealth.Handler(q, nil)
//	mux.Handle("/health/", http.StripPrefix("/health", h))
//	_, err = queuehealth.Measure(q, nil)
//
// # Health checks
//
// The handler answers GET and HEAD requests:
//
//   - /live: 200 as long as the process answers. A supervisor restarts it otherwise.
//   - /ready: 200 if the database answers, has the queue's tables, and Config.Ready returns nil, all within 2 s;
//     otherwise 503, with the reason as JSON. A balancer sends no requests meanwhile.
//   - /doctor: the findings of queueadmin.Doctor as JSON, with status 503 if one of them is a problem, otherwise 200.
//     Doctor takes seconds on a large database, so the findings are up to Config.MaxAge old. A request waits for them
//     for 10 s, then it is answered by 503; Doctor goes on, for the next request.
//
// The database is asked by one request at a time: others share its answer.
//
// The answers name jobs, workers and tables, and no payloads. The handler checks no one's rights: serve it where only
// your supervisor and your operators reach it.
//
// # Metrics
//
// The gauges are about the database, and the same in each process that reports them: take their maximum. Names as
// Prometheus has them are in parentheses.
//
//   - postroom.queue.up (postroom_queue_up): 1 if the database has answered within 4 s, else 0.
//   - postroom.queue.jobs (postroom_queue_jobs): stored jobs by postroom.job.type and postroom.job.standing: ready,
//     scheduled, limited, moving, waiting (for a node of their flow, or for their turn in a sequence), running and
//     failed. At most 20,000 of each are counted.
//   - postroom.queue.flows (postroom_queue_flows): flows that have not ended, by postroom.flow.state: running and
//     canceling. The newest 1,000 flows are counted.
//   - postroom.queue.oldest_due.age (postroom_queue_oldest_due_age_seconds): for how long the oldest job of a
//     postroom.job.type has been due without running, in seconds; 0 if none is.
//   - postroom.queue.workers (postroom_queue_workers): workers by postroom.worker.state: alive, or dead for those that
//     hold jobs without being registered.
//   - postroom.queue.findings (postroom_queue_findings): findings of Doctor by postroom.finding.severity: warning and
//     problem. They are up to Config.MaxAge old, and absent while Doctor takes longer than 4 s.
//   - postroom.queue.sequences.stopped (postroom_queue_sequences_stopped): sequences that a failed job stops, at most
//     1,000, up to Config.MaxAge old. Each is a problem among the findings as well.
//
// Alarms are conditions on these: postroom_queue_up == 0,
// postroom_queue_findings{postroom_finding_severity="problem"} > 0, postroom_queue_oldest_due_age_seconds above what
// you promise. The counters and histograms of what a process does
// (postroom.queue.enqueued, claimed, ended, running, handler.duration and wait) are package queue's own, by
// queue.Config.MeterProvider. The dashboard deploy/grafana/queue.json shows all of them, and examples/prometheus serves
// them to Prometheus.
package queuehealth
