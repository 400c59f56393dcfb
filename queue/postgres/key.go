package postgres

import (
	"context"
	"fmt"

	"github.com/postroom-go/postroom/internal/jobrow"
	"github.com/postroom-go/postroom/queue"
)

// A holder is who has a key.
type holder struct{ key, jobID, fingerprint string }

// keyTries bounds how often a key that was taken and is free again before one can look is tried for.
const keyTries = 10

// takeKeys answers each job with itself, or with the holder of its key.
func takeKeys(ctx context.Context, tx *queue.Tx, jobs []queue.InsertJob) ([]queue.InsertResult, error) {
	results := make([]queue.InsertResult, len(jobs))
	var wanted []int
	for i := range jobs {
		results[i] = queue.InsertResult{ID: jobs[i].ID}
		if jobs[i].Key.Name != "" {
			wanted = append(wanted, i)
		}
	}
	for range keyTries {
		if len(wanted) == 0 {
			return results, nil
		}
		holders, err := tryKeys(ctx, tx, jobs, wanted)
		if err != nil {
			return nil, err
		}
		var again []int
		for _, i := range wanted {
			h, ok := holders[jobs[i].Key.Name]
			if !ok {
				again = append(again, i)
				continue
			}
			results[i] = queue.InsertResult{ID: h.jobID, Duplicate: h.jobID != jobs[i].ID, Conflict: h.fingerprint != jobs[i].Fingerprint}
		}
		wanted = again
	}
	return nil, fmt.Errorf("key %q is taken and freed by others all the time", jobs[wanted[0]].Key.Name)
}

// tryKeys takes what is free and tells who has each key then.
func tryKeys(ctx context.Context, tx *queue.Tx, jobs []queue.InsertJob, wanted []int) (map[string]holder, error) {
	var keys, ids, scopes, fingerprints []string
	for _, i := range wanted {
		j := &jobs[i]
		keys = append(keys, j.Key.Name)
		ids = append(ids, j.ID)
		scopes = append(scopes, string(j.Key.Scope))
		fingerprints = append(fingerprints, j.Fingerprint)
	}
	if err := later(ctx, tx, insertKeys, keys, ids, scopes, fingerprints); err != nil {
		return nil, err
	}
	list, err := query(ctx, tx, func(row jobrow.Scanner) (h holder, err error) {
		err = row.Scan(&h.key, &h.jobID, &h.fingerprint)
		return h, err
	}, selectKeys, keys)
	holders := make(map[string]holder, len(list))
	for _, h := range list {
		holders[h.key] = h
	}
	return holders, err
}
