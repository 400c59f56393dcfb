package admincmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/cli/cmdline"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/queuectl/jobcmd"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// importFlags say what is imported.
type importFlags struct {
	from, format, table, keyScope string
	columns, states               map[string]string
	dryRun                        bool
	batch                         int
}

// mostImported is the bound of queueadmin.ImportConfig.Batch.
const mostImported = 5000

// NewImport makes the command import. read opens the database of a DSN to be read.
func NewImport(place placer, read func(ctx context.Context, dsn string) (*sqlx.DB, io.Closer, error)) *cobra.Command {
	cmd := &cobra.Command{Use: "import", Args: cobra.NoArgs,
		Short: "Copy the jobs of a table of another queue into this one",
		Long: "Copy the jobs of a table of another queue into this one, with their ids, states, attempts, keys and times. Stop the programs\n" +
			"that work on it before. --format names a table that is known; --column and --state say what differs, or all of another one.\n" +
			"Nothing is imported if the table has jobs in a state that is not named. Begin with --dry-run.",
		Example: "  queuectl import --from old.db --format job_queue --dry-run\n" +
			"  queuectl import --from postgres://host/old --table tasks --column ID=id,Type=kind,State=status,Payload=args \\\n" +
			"    --state new=queued,done=completed,dead=failed,hidden=skip"}
	open := place(cmd)
	var f importFlags
	cmd.Flags().StringVar(&f.from, "from", "", "the database to import from: the path of an SQLite file, or a URL of PostgreSQL")
	cmd.Flags().StringVar(&f.format, "format", "", "a table that is known: "+strings.Join(formats(), ", "))
	cmd.Flags().StringVar(&f.table, "table", "", "the name of the table (default: that of the format)")
	cmd.Flags().StringToStringVar(&f.columns, "column", nil,
		"a field and its column; the fields are "+strings.Join(fields(), ", "))
	cmd.Flags().StringToStringVar(&f.states, "state", nil,
		"a state there, and what it is here: queued, completed, failed, canceled or skip")
	cmdline.WholeLists(cmd.Flags(), "column", "state")
	cmd.Flags().StringVar(&f.keyScope, "key-scope", "", "how long a key is taken: forever (default) or unfinished")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "check all, and write nothing")
	cmd.Flags().IntVar(&f.batch, "batch", 0, "how many jobs one transaction imports (default 500)")
	if err := cmd.MarkFlagRequired("from"); err != nil {
		panic(err) // there is no such flag
	}
	asJSON := cmdline.JSONFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		mapping, err := f.mapping()
		if err != nil {
			return err
		}
		if cmd.Flags().Changed("batch") && (f.batch < 1 || f.batch > mostImported) {
			return usage.Errorf("--batch is %d; it must be within 1 and %d", f.batch, mostImported)
		}
		return open(cmd, true, func(ctx context.Context, s *jobcmd.Session) error {
			db, closer, err := read(ctx, f.from)
			if err != nil {
				return err
			}
			defer closer.Close()
			bar := printer.NewProgress(cmd.ErrOrStderr()).Start("Read", 0).Of("job", "jobs")
			report, err := queueadmin.Import(ctx, s.Queue, db, queueadmin.ImportConfig{Mapping: mapping, DryRun: f.dryRun,
				Batch: f.batch, Progress: func(done queueadmin.ImportReport) { bar.Set(done.Read) }})
			bar.Done()
			if errors.Is(err, queueadmin.ErrUnknownStates) || errors.Is(err, queueadmin.ErrInvalidMapping) {
				return usage.Wrap(err)
			}
			return errors.Join(err, f.print(cmd, report, *asJSON))
		})
	}
	return cmd
}

func formats() []string { return slices.Sorted(maps.Keys(queueadmin.Mappings())) }

// fields are the fields of a mapping that name columns.
func fields() (names []string) {
	for f := range reflect.TypeFor[queueadmin.Mapping]().Fields() {
		if f.Type.Kind() == reflect.String && f.Name != "Table" && f.Name != "KeyScope" {
			names = append(names, f.Name)
		}
	}
	return names
}

func (f *importFlags) mapping() (queueadmin.Mapping, error) {
	m, ok := queueadmin.Mappings()[f.format]
	if f.format != "" && !ok {
		return m, usage.Errorf("--format %s: the formats are %s", f.format, strings.Join(formats(), ", "))
	}
	if f.table != "" {
		m.Table = f.table
	}
	if m.Table == "" {
		return m, usage.Errorf("name a --format, or a --table with its columns and states")
	}
	for field, column := range f.columns {
		if !slices.Contains(fields(), field) {
			return m, usage.Errorf("--column %s=%s: the fields are %s", field, column, strings.Join(fields(), ", "))
		}
		reflect.ValueOf(&m).Elem().FieldByName(field).SetString(column)
	}
	if m.States == nil {
		m.States = make(map[string]queue.State)
	}
	for there, here := range f.states {
		m.States[there] = queue.State(here)
	}
	m.KeyScope = driver.KeyScope(f.keyScope)
	return m, nil
}

// An importReport is the report of an import as JSON.
type importReport struct {
	DryRun    bool                `json:"dry_run"`
	Read      int                 `json:"read"`
	Imported  map[queue.State]int `json:"imported"`
	Skipped   int                 `json:"skipped"`
	Existing  int                 `json:"existing"`
	KeysTaken int                 `json:"keys_taken"`
	Refused   int                 `json:"refused"`
	Faults    []string            `json:"faults"`
}

// errRefused sets the exit status to failure.
var errRefused = errors.New("some rows were left; see above")

func (f *importFlags) print(cmd *cobra.Command, r queueadmin.ImportReport, asJSON bool) error {
	var err error
	if asJSON {
		err = printer.JSON(cmd.OutOrStdout(), importReport{f.dryRun, r.Read, r.Imported, r.Skipped, r.Existing, r.KeysTaken,
			r.Refused, printer.List(r.Faults, func(s string) string { return s })})
	} else {
		fields := printer.NewFields(cmd.OutOrStdout())
		fields.Add("read", r.Read)
		for _, state := range queue.States() {
			if n := r.Imported[state]; n > 0 {
				fields.Add(printer.Unless(!f.dryRun, "would be ")+string(state), n)
			}
		}
		for _, left := range []struct {
			name string
			n    int
		}{
			{"skipped", r.Skipped}, {"there already", r.Existing}, {"keys taken", r.KeysTaken}, {"refused", r.Refused},
		} {
			if left.n > 0 {
				fields.Add(left.name, left.n)
			}
		}
		err = fields.Flush()
		for _, fault := range r.Faults {
			_, printed := fmt.Fprintln(cmd.OutOrStdout(), printer.Printable(fault))
			err = errors.Join(err, printed)
		}
	}
	if err == nil && r.KeysTaken+r.Refused > 0 {
		return errRefused
	}
	return err
}
