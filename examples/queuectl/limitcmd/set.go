package limitcmd

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/queuectl/jobcmd"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// limitFlags are the parts of a limit that flags name.
type limitFlags struct {
	queue.Limit

	given *pflag.FlagSet
}

func (f *limitFlags) add(cmd *cobra.Command) {
	f.given = cmd.Flags()
	f.given.IntVar(&f.MaxRunning, "running", 0, "how many run at once; 0 takes this part of the limit away")
	f.given.IntVar(&f.Rate, "rate", 0, "how many start in each --per; 0 takes this part away, with --per and --burst")
	f.given.DurationVar(&f.Per, "per", 0, "the time of --rate (default 1m for a new one)")
	f.given.IntVar(&f.Burst, "burst", 0, "how many may start at once after a quiet time (default 1 for a new one)")
	cmd.MarkFlagsOneRequired("running", "rate", "per", "burst")
}

// changed is the limit with the parts that the flags name.
func (f *limitFlags) changed(l queue.Limit) queue.Limit {
	if f.given.Changed("running") {
		l.MaxRunning = f.MaxRunning
	}
	if f.given.Changed("rate") {
		if l.Rate = f.Rate; l.Rate == 0 {
			l.Per, l.Burst = 0, 0
		} else {
			l.Per = cmp.Or(l.Per, time.Minute)
		}
	}
	if f.given.Changed("per") {
		l.Per = f.Per
	}
	if f.given.Changed("burst") {
		l.Burst = f.Burst
	}
	if l.Rate > 0 && l.Burst == 0 {
		l.Burst = 1
	}
	return l
}

func set(place func(*cobra.Command) jobcmd.Opener) *cobra.Command {
	cmd := &cobra.Command{Use: "set", Args: cobra.NoArgs,
		Short: "Limit how many jobs run at once, or how many start in a time",
		Long: "Limit how many jobs run at once, or how many start in a time. What no flag names stays, if there is a limit already;\n" +
			"0 takes a part of it away, and 'limits remove' the whole.",
		Example: "  queuectl limits set --type mail.send --running 4\n" +
			"  queuectl limits set --type mail.send --rate 100 --per 1s      # and at most 4 as before\n" +
			"  queuectl limits set --type mail.send --running 0              # only the rate is left"}
	open := place(cmd)
	var target targetFlags
	target.add(cmd, false)
	var flags limitFlags
	flags.add(cmd)
	cmd.RunE = changing(open, &target, func(ctx context.Context, q *queue.Queue, t queue.Target) (done string, err error) {
		err = q.DB().Write(ctx, func(ctx context.Context, tx queue.Tx) error {
			stored, err := storedLimit(ctx, q, tx, t)
			if err != nil {
				return err
			}
			l := flags.changed(stored)
			if l == (queue.Limit{}) {
				return usage.Errorf("nothing of the limit would be left; remove it with 'limits remove'")
			}
			done = "limited: " + strings.Join(slices.DeleteFunc([]string{running(l), starts(l)}, func(part string) bool {
				return part == ""
			}), ", ")
			return q.SetLimitTx(ctx, tx, t, l)
		})
		return done, err
	})
	return cmd
}

const selectLimit = `
SELECT COALESCE(max_running, 0), COALESCE(rate, 0), COALESCE(period_us, 0), COALESCE(burst, 0)
FROM %s
WHERE kind = $1
  AND name = $2`

// storedLimit reads the limit of a target, and keeps others from changing it before the transaction ends.
func storedLimit(ctx context.Context, q *queue.Queue, tx queue.Tx, t queue.Target) (l queue.Limit, err error) {
	query := fmt.Sprintf(selectLimit, queue.Table(q.DB(), "job_limits"))
	if q.DB().Dialect() == driver.Postgres { // SQLite has one writer at a time
		query += "\nFOR UPDATE"
	}
	var micros int64
	err = tx.QueryRowContext(ctx, query, t.Kind, t.Name).Scan(&l.MaxRunning, &l.Rate, &micros, &l.Burst)
	if errors.Is(err, sql.ErrNoRows) {
		return l, nil
	}
	l.Per = time.Duration(micros) * time.Microsecond
	return l, err
}
