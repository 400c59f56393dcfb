// Package jobcmd has the commands that show and change the jobs of a queue, for any program that has one.
package jobcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/queue"
)

// A Host is the program of the commands.
type Host struct {
	// Name is how the commands are called, such as "queuectl" or "postroomd jobs".
	Name string
	// Place adds the flags that say where the queue is. Opener opens it when the command runs.
	Place func(cmd *cobra.Command) Opener
	// Types are the types that the program knows, and TypesAre the words before a list of them. It may know none.
	Types    []string
	TypesAre string
	// RetryNote is about what retry leaves out, for its help. It may be empty.
	RetryNote, CancelNote string
	// All adds the filters and the flags that only an operator of the queue itself wants.
	All bool
}

// An Opener calls fn with the queue, opened to be changed or only to be read.
type Opener func(cmd *cobra.Command, change bool, fn func(ctx context.Context, s *Session) error) error

// A Session is an open queue.
type Session struct {
	Queue *queue.Queue
	// CheckRetry returns why a job must not be retried, a [usage.Error]. nil: any may.
	CheckRetry func(ctx context.Context, jobID string) error
	// CarryOut waits until a process has done what was asked for, if one runs, and reports whether done is true. nil:
	// nobody waits.
	CarryOut func(ctx context.Context, done func(context.Context) (bool, error)) (bool, error)
	// Later is the note about jobs that no process has run yet.
	Later string
}

// ErrFindings reports that an examination has found problems, which are printed.
var ErrFindings = errors.New("there are problems; see above")

// maxListed returns the bound of a list of jobs: an operator sees more than a person who is at home in the program.
func (h *Host) maxListed() int {
	if h.All {
		return 1000
	}
	return 100
}

// Basic returns the commands list, show, explain, retry, cancel and doctor.
func (h *Host) Basic() []*cobra.Command {
	return []*cobra.Command{h.list(), h.show(), h.explain(), h.retry(), h.cancel(), h.doctor()}
}

// Operate returns the commands that Basic has not: errors, run-now, reschedule, priority, signal and delete.
func (h *Host) Operate() []*cobra.Command {
	return []*cobra.Command{h.errorGroups(), h.runNow(), h.reschedule(), h.priority(), h.signal(), h.remove()}
}

const (
	mostCandidates = 10
	selectIDs      = `
SELECT id
FROM %s
WHERE id LIKE $1 ESCAPE '!'
  OR id LIKE $2 ESCAPE '!'
ORDER BY id
LIMIT 11`
)

// find returns the job of an id, or those whose ids begin or end so. Ids that were imported may be any text.
func find(ctx context.Context, q *queue.Queue, typed string) (ids []string, err error) {
	if job, err := q.Job(ctx, typed); err == nil {
		return []string{job.ID}, nil
	} else if !errors.Is(err, queue.ErrJobNotFound) {
		return nil, err
	}
	begins, ends, ok := Patterns(typed)
	if !ok {
		return nil, nil
	}
	err = q.DB().Reader().SelectContext(ctx, &ids, fmt.Sprintf(selectIDs, queue.Table(q.DB(), "jobs")), begins, ends)
	return ids, err
}

// Patterns returns patterns of LIKE, with the escape character !, for ids that begin or end as typed. It reports false
// if no id does.
func Patterns(typed string) (begins, ends string, ok bool) {
	text := strings.TrimSpace(typed)
	if text == "" || !utf8.ValidString(text) || strings.Contains(text, "\x00") {
		return "", "", false
	}
	if lower := strings.ToLower(text); strings.Trim(lower, "0123456789abcdef-") == "" {
		text = lower // as the queue's own ids are
	}
	pattern := strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(text)
	return pattern + "%", "%" + pattern, true
}

// resolve completes the beginning or the end of a job's id. flags are those of the list command that would find it.
func (h *Host) resolve(ctx context.Context, s *Session, typed, flags string) (string, error) {
	listing := h.Name + " list" + flags
	ids, err := find(ctx, s.Queue, typed)
	if err != nil {
		return "", fmt.Errorf("find job %q: %w", typed, err)
	}
	switch len(ids) {
	case 0:
		return "", usage.Errorf("there is no job %s; '%s' lists them", typed, listing)
	case 1:
		return ids[0], nil
	}
	list := strings.Join(ids[:min(len(ids), mostCandidates)], ", ")
	if len(ids) > mostCandidates {
		list += ", …"
	}
	return "", usage.Errorf("job %q: it could be %s; give more of it: '%s' lists the jobs", typed, list, listing)
}
