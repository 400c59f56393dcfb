package queueadmin

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// An ErrorGroup is the jobs of a type whose last errors differ only in their numbers, ids and quoted parts.
type ErrorGroup struct {
	ID   string // of 12 hexadecimal digits, the same for the same type and text in every database
	Type string
	Text string // the error with # and "…" in place of what differs, its beginning
	Jobs int
	// FirstSeen and LastSeen are when the first and the last of the jobs were written last.
	FirstSeen time.Time
	LastSeen  time.Time
	JobID     string // one of the jobs, the newest
}

const (
	groupDigits   = 12
	defaultErrors = 10_000
	maxErrors     = 1_000_000
	// maxGroupText is how many bytes of an error make its group.
	maxGroupText = 300
)

// ErrorGroups returns the groups of the last errors of the jobs that a filter selects, the largest first. Without
// States these are all jobs that have not completed. Of each state it reads the newest jobs, until Filter.Limit of them
// had an error: default 10,000, bounds 1 to 1,000,000; a million takes some seconds. It looks at ten times as many at
// most, so that a backlog of new jobs without errors hides none. Use [Selection].ErrorGroup to change the jobs of a
// group.
func ErrorGroups(ctx context.Context, q *queue.Queue, filter queue.Filter) ([]ErrorGroup, error) {
	const op = "error groups"
	if q == nil {
		return nil, wrap(op, "", errNoQueue)
	}
	if filter.Limit == 0 {
		filter.Limit = defaultErrors
	}
	if filter.Limit < 1 || filter.Limit > maxErrors {
		return nil, wrap(op, "", fmt.Errorf("Filter.Limit is %d; it must be within 1 and %d", filter.Limit, maxErrors))
	}
	if len(filter.States) == 0 {
		filter.States = slices.DeleteFunc(queue.States(), func(s queue.State) bool { return s == queue.StateCompleted })
	}
	byID := make(map[string]*ErrorGroup)
	states := filter.States
	for i, state := range states {
		if slices.Contains(states[:i], state) {
			continue
		}
		filter.States = []queue.State{state}
		if err := addErrors(ctx, q, byID, filter); err != nil {
			return nil, failed(ctx, q, op, err)
		}
	}
	groups := make([]ErrorGroup, 0, len(byID))
	for _, g := range byID {
		groups = append(groups, *g)
	}
	slices.SortFunc(groups, func(a, b ErrorGroup) int {
		return cmp.Or(cmp.Compare(b.Jobs, a.Jobs), b.LastSeen.Compare(a.LastSeen), cmp.Compare(a.ID, b.ID))
	})
	return groups, nil
}

// lookedAt is how many jobs are looked at for each error that may be read.
const lookedAt = 10

// addErrors adds at most filter.Limit errors.
func addErrors(ctx context.Context, q *queue.Queue, byID map[string]*ErrorGroup, filter queue.Filter) error {
	left := filter.Limit
	filter.Limit *= lookedAt
	for e, err := range errorsOf(ctx, q, filter) {
		if err != nil {
			return err
		}
		addError(byID, &e)
		if left--; left == 0 {
			break
		}
	}
	return nil
}

func addError(byID map[string]*ErrorGroup, e *driver.JobError) {
	text := groupText(e.Error)
	id := groupID(e.Type, text)
	g, ok := byID[id]
	if !ok {
		g = &ErrorGroup{ID: id, Type: e.Type, Text: text, FirstSeen: e.At, LastSeen: e.At}
		byID[id] = g
	}
	g.Jobs++
	g.JobID = max(g.JobID, e.JobID)
	if e.At.Before(g.FirstSeen) {
		g.FirstSeen = e.At
	}
	if e.At.After(g.LastSeen) {
		g.LastSeen = e.At
	}
}

var (
	quoted = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`|\\B'[^']*'\\B")
	// Any word with a digit: numbers, hexadecimal ones, ids, addresses of memory.
	numbered = regexp.MustCompile(`[\pL_-]*[0-9][\pL0-9_-]*`)
)

// groupText is the error without what differs from one job to the next.
func groupText(text string) string {
	if len(text) > maxGroupText {
		text = strings.ToValidUTF8(text[:maxGroupText], "")
	}
	return numbered.ReplaceAllString(quoted.ReplaceAllString(text, `"…"`), "#")
}

func groupID(jobType, text string) string {
	sum := sha256.Sum256([]byte(jobType + "\x00" + text))
	return hex.EncodeToString(sum[:])[:groupDigits]
}

func isGroup(id string) bool {
	_, err := hex.DecodeString(id)
	return err == nil && len(id) == groupDigits && id == strings.ToLower(id)
}

// errorsOf iterates over the last errors of the jobs of a filter, newest jobs first, as the handlers gave them.
func errorsOf(ctx context.Context, q *queue.Queue, filter queue.Filter) iter.Seq2[driver.JobError, error] {
	return func(yield func(driver.JobError, error) bool) {
		d, ok := driver.As[driver.ErrorReader](q.DB().Driver())
		if !ok {
			yield(driver.JobError{}, fmt.Errorf("a %T does not implement driver.ErrorReader", q.DB().Driver()))
			return
		}
		for ids, err := range q.JobIDs(ctx, filter, defaultBulk) {
			var some []driver.JobError
			if err == nil {
				some, err = d.JobErrors(ctx, ids)
			}
			if err != nil {
				yield(driver.JobError{}, err)
				return
			}
			slices.SortFunc(some, func(a, b driver.JobError) int { return cmp.Compare(b.JobID, a.JobID) })
			for _, e := range some {
				e.Error = q.ErrorText(e.JobID, e.Error)
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// matches reports whether the error is one that the selection selects.
func (s *Selection) matches(e *driver.JobError) bool {
	return strings.Contains(strings.ToLower(e.Error), strings.ToLower(s.ErrorContains)) &&
		(s.ErrorGroup == "" || s.ErrorGroup == groupID(e.Type, groupText(e.Error)))
}

// byError reports whether errors select the jobs.
func (s *Selection) byError() bool { return s.ErrorContains+s.ErrorGroup != "" }

// Selected iterates over the ids of the selected jobs, at most size at a time, newest first, or as in JobIDs. A slice
// is valid until the next. Without States it selects jobs in all states. Jobs may have changed by the time their ids
// are seen. An error is the last that is iterated over.
func Selected(ctx context.Context, q *queue.Queue, sel Selection, size int) iter.Seq2[[]string, error] {
	err := sel.validate()
	switch {
	case q == nil:
		err = errNoQueue
	case size < 1:
		err = fmt.Errorf("the size is %d; it must be at least 1", size)
	}
	switch {
	case err != nil:
		return func(yield func([]string, error) bool) { yield(nil, wrap("select", "", err)) }
	case len(sel.JobIDs) > 0:
		return func(yield func([]string, error) bool) {
			for ids := range slices.Chunk(sel.JobIDs, size) {
				if !yield(ids, nil) {
					return
				}
			}
		}
	case !sel.byError():
		return q.JobIDs(ctx, sel.Filter, size)
	}
	return func(yield func([]string, error) bool) {
		left, ids := sel.Limit, make([]string, 0, size)
		all := sel.Filter
		all.Limit = 0
		for e, err := range errorsOf(ctx, q, all) {
			switch {
			case err != nil:
				yield(nil, err)
				return
			case !sel.matches(&e):
				continue
			}
			if ids = append(ids, e.JobID); len(ids) == size {
				if !yield(ids, nil) {
					return
				}
				ids = ids[:0]
			}
			if left--; left == 0 {
				break
			}
		}
		if len(ids) > 0 {
			yield(ids, nil)
		}
	}
}
