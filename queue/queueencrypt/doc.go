// Package queueencrypt has a [queue.Codec] that encrypts the content of jobs with AES-256-GCM: payloads, also of
// signals, results, the results and cursors of steps, log lines of handlers, and their errors and stacks. A person who
// reads the database, or a copy of it, learns nothing of them, and cannot change them or move them to other jobs
// unnoticed.
//
//	codec, err := queueencrypt.NewCodec(queueencrypt.Key{ID: "2026-11", Secret: secret})
//	…
//	q, err := queue.New(db, &queue.Config{Codec: codec})
//
// Nothing else is encrypted: types, keys, limit keys, users, tags, times, the names of steps and schedules, the levels
// and numbers of log lines, the outcomes of attempts, and the queue's own messages about them, such as "worker … died".
// The length of encrypted data is visible as well. Keep secrets out of those. Fingerprints of jobs with a [queue.Key]
// are HMACs.
package queueencrypt
