// Package queueencrypt has a [queue.Codec] that encrypts what jobs are about with AES-256-GCM: who reads the database, or a copy
// of it, learns nothing of payloads, results, the results and cursors of steps, what handlers log, and the errors and stacks
// they end with, and cannot change them or move them to other jobs unnoticed.
//
//	codec, err := queueencrypt.NewCodec(queueencrypt.Key{ID: "2026-11", Secret: secret})
//	…
//	q, err := queue.New(db, &queue.Config{Codec: codec})
//
// It hides nothing else: types, keys, limit keys, users, tags, times, the names of steps and schedules, the levels and numbers
// of log lines, how attempts ended, and what the queue itself has to say of that, such as "worker … died", are stored as they
// are, and the length of what is encrypted shows. Keep secrets out of those. Fingerprints of jobs with a [queue.Key] are HMACs.
package queueencrypt
