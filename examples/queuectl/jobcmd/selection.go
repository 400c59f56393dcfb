package jobcmd

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/postroom-go/postroom/examples/postroomd/cli/cmdline"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/internal/suggest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// selectFlags are the flags that select jobs.
type selectFlags struct {
	types, states, tags       []string
	key, limitKey, user       string
	olderThan, newerThan      time.Duration
	errorContains, errorGroup string
	all                       bool

	given *pflag.FlagSet // all flags of the command
}

// selecting are the names of the flags that select jobs, except --all.
var selecting = []string{
	"type", "state", "key", "limit-key", "user", "tag", "older-than", "newer-than", "error", "error-group",
}

// add adds the flags. which is "only" for a list, and "all jobs" for a change.
func (f *selectFlags) add(cmd *cobra.Command, from []queue.State, most bool) {
	flags := cmd.Flags()
	f.given = flags
	flags.StringSliceVar(&f.types, "type", nil, "jobs of these types")
	flags.StringSliceVar(&f.states, "state", nil, "only these states: "+strings.Join(cmdline.Texts(from), ", "))
	cmdline.WholeLists(flags, "type", "state")
	flags.StringVar(&f.key, "key", "", "jobs whose key has this name")
	if !most {
		return
	}
	flags.StringVar(&f.limitKey, "limit-key", "", "jobs of this limit key")
	flags.StringVar(&f.user, "user", "", "jobs of this user")
	flags.StringSliceVar(&f.tags, "tag", nil, "jobs that have all of these tags")
	cmdline.WholeLists(flags, "tag")
	flags.DurationVar(&f.olderThan, "older-than", 0, "jobs that were enqueued longer ago, such as 24h")
	flags.DurationVar(&f.newerThan, "newer-than", 0, "jobs that were enqueued since, such as 30m")
	flags.StringVar(&f.errorContains, "error", "", "jobs whose last error has this text in it, whatever its case")
	flags.StringVar(&f.errorGroup, "error-group", "", "jobs whose last error is of this group; see the command errors")
}

// addAll adds the flag --all to a change.
func (f *selectFlags) addAll(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.all, "all", false, "all jobs, whatever they are")
}

var errorGroupID = regexp.MustCompile(`^[0-9a-f]{12}$`)

// empty refuses a flag that is given without a value, as --user "$WHO" is where WHO is not set: left out, it would
// select more than is meant.
func (f *selectFlags) empty() error {
	for _, name := range selecting {
		flag := f.given.Lookup(name)
		if flag == nil || !flag.Changed {
			continue
		}
		empty := flag.Value.String() == "" || flag.Value.String() == "0s"
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values := list.GetSlice()
			empty = len(values) == 0 || slices.Contains(values, "")
		}
		if empty {
			return usage.Errorf("--%s has no value; leave it out, or say what it selects", name)
		}
	}
	return nil
}

// selection reads the flags. can says what can be done to jobs in the states from.
func (f *selectFlags) selection(from []queue.State, can string) (queueadmin.Selection, error) {
	if err := f.empty(); err != nil {
		return queueadmin.Selection{}, err
	}
	slices.Sort(f.types)
	f.types = slices.Compact(f.types)
	sel := queueadmin.Selection{ErrorContains: f.errorContains, ErrorGroup: f.errorGroup, Filter: queue.Filter{
		Types: f.types, Key: f.key, LimitKey: f.limitKey, UserID: f.user, Tags: f.tags, All: f.all,
	}}
	if f.errorGroup != "" && !errorGroupID.MatchString(f.errorGroup) {
		return sel, usage.Errorf("--error-group %s: a group has 12 digits, as the command errors shows them", f.errorGroup)
	}
	for _, s := range f.states {
		if !slices.Contains(from, queue.State(s)) {
			return sel, usage.Errorf("--state %s: %s", s, suggest.Instead(s, cmdline.Texts(from), can))
		}
		sel.States = append(sel.States, queue.State(s))
	}
	if f.olderThan < 0 || f.newerThan < 0 {
		return sel, usage.Errorf("--older-than and --newer-than take a duration above 0, such as 24h")
	}
	now := time.Now()
	if f.olderThan > 0 {
		sel.CreatedBefore = now.Add(-f.olderThan)
	}
	if f.newerThan > 0 {
		sel.CreatedFrom = now.Add(-f.newerThan)
	}
	return sel, nil
}

// chooses reports whether a flag other than --state selects jobs.
func (f *selectFlags) chooses() bool {
	return len(f.types)+len(f.tags) > 0 || f.key+f.limitKey+f.user+f.errorContains+f.errorGroup != "" ||
		f.olderThan != 0 || f.newerThan != 0 || f.all
}

// noteUnknownTypes prints a note for each unknown type without jobs, which may be mistyped. It is not an error:
// another program on the database may have registered the type.
func (h *Host) noteUnknownTypes(ctx context.Context, s *Session, cmd *cobra.Command, types []string) error {
	for _, t := range types {
		if slices.Contains(h.Types, t) {
			continue
		}
		note := ""
		if len(h.Types) > 0 {
			note = "; " + suggest.Instead(t, h.Types, h.TypesAre)
		}
		if err := NoteUnknownType(ctx, s, cmd, t, note); err != nil {
			return err
		}
	}
	return nil
}

// NoteUnknownType prints a note, and what else is to be said, if no job has the type.
func NoteUnknownType(ctx context.Context, s *Session, cmd *cobra.Command, jobType, more string) error {
	jobs, err := s.Queue.Jobs(ctx, queue.Filter{Types: []string{jobType}, Limit: 1})
	if err == nil && len(jobs) == 0 {
		cmd.PrintErrln("no job has the type " + printer.Printable(jobType) + more)
	}
	return err
}
