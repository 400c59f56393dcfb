package queueadmin

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/driver"
)

// ImportConfig configures [Import].
type ImportConfig struct {
	// Mapping is how the table is read: one of [Mappings], or another.
	Mapping Mapping
	// DryRun reads and checks all, and writes nothing.
	DryRun bool
	// Batch is the number of jobs of one transaction. Default 500; bounds 1 to 5,000.
	Batch int
	// Progress is called after each transaction with what has been done so far. Default nil: it is not called.
	Progress func(done ImportReport)
}

// An ImportReport counts what [Import] has done, or would do.
type ImportReport struct {
	Read int
	// Imported are the jobs by the state that they have here.
	Imported map[queue.State]int
	// Skipped are the jobs of the states that the mapping skips.
	Skipped int
	// Existing are those whose ids are here already: an earlier call has imported them.
	Existing int
	// KeysTaken are those that were left because another job has their key. Their ids are in Faults.
	KeysTaken int
	// Refused are those that are not valid jobs. What is wrong with them is in Faults.
	Refused int
	// Faults are the first 20 rows that were left, each with the reason.
	Faults []string
}

const maxFaults = 20

func (r *ImportReport) fault(id string, err error) {
	if len(r.Faults) < maxFaults {
		r.Faults = append(r.Faults, fmt.Sprintf("%s: %v", id, err))
	}
}

// ErrUnknownStates reports that a table has jobs in states that its mapping does not know.
var ErrUnknownStates = errors.New("unknown states")

// ErrInvalidMapping reports that a [Mapping] is not valid: nothing was read.
var ErrInvalidMapping = errors.New("invalid mapping")

// Import copies the jobs of a table of another queue, which may be in any database that from reads, with their ids,
// states, attempts, keys and times. It leaves the table as it is. Stop the programs that work on it before: a job that
// was running there is queued here, and counts as an attempt. Dispatchers may run here.
//
// Nothing is written if the table has jobs in a state that the mapping does not know; the error is [ErrUnknownStates],
// with their numbers. Rows that are not valid jobs are left, as are jobs whose keys other jobs have; the report has
// both. Payloads, results and errors are encoded by the codec of q. Steps and logs are not imported. Finished jobs are
// kept as long as queue.Config.Retention says since they finished. A call after one that was interrupted goes on.
//
// The table must not be the queue's own: where it is also named jobs and in the same database, rename it first.
func Import(ctx context.Context, q *queue.Queue, from *sqlx.DB, cfg ImportConfig) (ImportReport, error) {
	i, err := newImporter(q, from, cfg)
	if err != nil {
		return ImportReport{}, wrap("import", "", err)
	}
	if err := i.checkStates(ctx); err != nil {
		return ImportReport{}, wrap("import", "", err)
	}
	err = i.run(ctx)
	return i.report, failed(ctx, q, "import", err)
}

type importer struct {
	q      *queue.Queue
	d      driver.Driver
	to     driver.MoveTarget
	from   *sqlx.DB
	cfg    ImportConfig
	report ImportReport
	// unwritten are the ids and keys that a dry run would have written, which are not there to be found, and batch those
	// of the transaction.
	unwritten map[nameSum]bool
	batch     []nameSum
}

// A nameSum stands for an id or a key, of which there may be millions.
type nameSum [16]byte

func sumOf(kind, name string) nameSum {
	sum := sha256.Sum256([]byte(kind + "\x00" + name))
	return nameSum(sum[:16])
}

// would reports whether a dry run would have written the id or the key before, and notes it otherwise.
func (i *importer) would(kind, name string) bool {
	if !i.cfg.DryRun {
		return false
	}
	sum := sumOf(kind, name)
	if i.unwritten[sum] {
		return true
	}
	i.batch = append(i.batch, sum)
	return false
}

func newImporter(q *queue.Queue, from *sqlx.DB, cfg ImportConfig) (*importer, error) {
	switch {
	case q == nil:
		return nil, errNoQueue
	case from == nil:
		return nil, errors.New("the database to import from is nil: give its *sqlx.DB")
	}
	if cfg.Batch == 0 {
		cfg.Batch = 500
	}
	if cfg.Batch < 1 || cfg.Batch > maxBulk {
		return nil, fmt.Errorf("ImportConfig.Batch is %d; it must be within 1 and %d", cfg.Batch, maxBulk)
	}
	i := &importer{q: q, d: q.DB().Driver(), from: from, cfg: cfg}
	i.report.Imported = make(map[queue.State]int)
	i.unwritten = make(map[nameSum]bool)
	var ok bool
	if i.to, ok = driver.As[driver.MoveTarget](i.d); !ok {
		return nil, fmt.Errorf("a %T does not implement driver.MoveTarget", i.d)
	}
	if err := cfg.Mapping.validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidMapping, err)
	}
	return i, nil
}

// checkStates returns [ErrUnknownStates] if the mapping does not know a state of the table.
func (i *importer) checkStates(ctx context.Context) error {
	rows, err := i.from.QueryContext(ctx, i.cfg.Mapping.countStates())
	if err != nil {
		return fmt.Errorf("read table %s: %w", i.cfg.Mapping.Table, err)
	}
	defer rows.Close()
	var unknown []string
	for rows.Next() {
		var state string
		var n int
		if err := rows.Scan(&state, &n); err != nil {
			return err
		}
		if _, ok := i.cfg.Mapping.States[state]; !ok {
			unknown = append(unknown, fmt.Sprintf("%q (%d)", state, n))
		}
	}
	if err := rows.Err(); err != nil || len(unknown) == 0 {
		return err
	}
	slices.Sort(unknown)
	return fmt.Errorf("%w: %s; the mapping has %q", ErrUnknownStates, strings.Join(unknown, ", "),
		slices.Sorted(maps.Keys(i.cfg.Mapping.States)))
}

func (i *importer) run(ctx context.Context) error {
	rows, err := i.from.QueryContext(ctx, i.cfg.Mapping.selectRows())
	if err != nil {
		return fmt.Errorf("read table %s: %w", i.cfg.Mapping.Table, err)
	}
	defer rows.Close()
	batch := make([]driver.InsertJob, 0, i.cfg.Batch)
	now := driver.Now(i.d)
	for rows.Next() {
		var r sourceRow
		if err := rows.Scan(r.dest()...); err != nil {
			return fmt.Errorf("read table %s: %w", i.cfg.Mapping.Table, err)
		}
		i.report.Read++
		job, skip, err := i.job(&r, now)
		switch {
		case skip:
			i.report.Skipped++
			continue
		case err != nil:
			i.report.Refused++
			i.report.fault(r.id.String, err)
			continue
		}
		if batch = append(batch, job); len(batch) == i.cfg.Batch {
			if err := i.flush(ctx, batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return i.flush(ctx, batch)
}

// job makes a job of a row. skip: the mapping skips it.
func (i *importer) job(r *sourceRow, now time.Time) (stored driver.InsertJob, skip bool, err error) {
	job, err := r.job(&i.cfg.Mapping, now)
	if err != nil || job.State == StateSkip {
		return stored, err == nil, err
	}
	stored, err = i.q.StoredForm(job)
	return stored, false, err
}

// flush writes a batch, whole or not at all.
func (i *importer) flush(ctx context.Context, batch []driver.InsertJob) error {
	if len(batch) == 0 {
		return nil
	}
	var after ImportReport
	err := write(ctx, i.d, func(ctx context.Context, tx *driver.WriteTx) error {
		after, i.batch = i.report, i.batch[:0]
		after.Imported, after.Faults = maps.Clone(i.report.Imported), slices.Clip(i.report.Faults)
		return i.insert(ctx, tx, batch, &after)
	})
	if err != nil && !errors.Is(err, errDryRun) {
		return err
	}
	i.report = after
	for _, sum := range i.batch {
		i.unwritten[sum] = true
	}
	if i.cfg.Progress != nil {
		i.cfg.Progress(i.report)
	}
	return nil
}

// errDryRun undoes what a dry run has written.
var errDryRun = errors.New("dry run")

func (i *importer) insert(
	ctx context.Context, tx *driver.WriteTx, batch []driver.InsertJob, report *ImportReport,
) error {
	existing, err := i.existing(ctx, tx, batch)
	if err != nil {
		return err
	}
	var ids []string
	for k := range batch {
		job := &batch[k]
		if existing[job.ID] {
			report.Existing++
			continue
		}
		existing[job.ID] = true
		if i.would("id", job.ID) {
			report.Existing++
			continue
		}
		taken, err := i.insertJob(ctx, tx, job)
		switch {
		case err != nil:
			return fmt.Errorf("job %s: %w", job.ID, err)
		case taken:
			report.KeysTaken++
			report.fault(job.ID, fmt.Errorf("%w: %q", queue.ErrKeyConflict, job.Key.Name))
			continue
		}
		report.Imported[job.State]++
		ids = append(ids, job.ID)
	}
	if i.cfg.DryRun {
		return errDryRun
	}
	if err := i.to.ReleaseHeld(ctx, tx, ids); err != nil {
		return err
	}
	return i.d.Notify(ctx, tx)
}

// existing returns which of the jobs are here already.
func (i *importer) existing(
	ctx context.Context, tx *driver.WriteTx, batch []driver.InsertJob,
) (map[string]bool, error) {
	existing := make(map[string]bool)
	for some := range slices.Chunk(batch, 20) { // each may have a payload of a megabyte
		ids := make([]string, len(some))
		for k := range some {
			ids[k] = some[k].ID
		}
		jobs, err := i.d.ReadJobs(ctx, tx, ids)
		if err != nil {
			return nil, err
		}
		for k := range jobs {
			existing[jobs[k].ID] = true
		}
	}
	return existing, nil
}

// insertJob writes a job and its key. It writes nothing if another job has the key.
func (i *importer) insertJob(ctx context.Context, tx *driver.WriteTx, job *driver.InsertJob) (taken bool, err error) {
	if job.Key.Name != "" && (job.Key.Scope == driver.KeyForever || !job.State.Finished()) {
		n, err := i.to.InsertRows(ctx, tx, driver.TableKeys, keyRow(job))
		if err != nil || n == 0 {
			return err == nil, err
		}
		if i.would("key", job.Key.Name) {
			return true, nil
		}
	}
	_, err = i.to.InsertRows(ctx, tx, driver.TableJobs, jobRow(job))
	return false, err
}
