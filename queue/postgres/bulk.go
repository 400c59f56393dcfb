package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// bulk is the number of jobs from which COPY is faster than INSERT, which needs no round trip of its own.
const bulk = 50

// copyJobs writes many jobs by COPY, in its binary form: nothing is faster on either side.
func (t *transaction) copyJobs(ctx context.Context, jobs []*driver.InsertJob, now time.Time) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return errOver
	}
	// It cannot be sent with other statements.
	if err := t.send(ctx); err != nil {
		return err
	}
	var rows copyRows
	rows.begin(len(jobs))
	for _, job := range jobs {
		rows.job = jobsql.NewJobOf(job, now)
		rows.add()
	}
	rows.end()
	t.failed = t.own(func(conn *pgx.Conn) error {
		_, err := conn.PgConn().CopyFrom(ctx, bytes.NewReader(rows.buf), t.of.names.Fill(copyJobs))
		return err
	})
	return t.failed
}

// copyRows produces the input of COPY … WITH (FORMAT binary): https://www.postgresql.org/docs/current/sql-copy.html,
// "Binary Format".
type copyRows struct {
	buf []byte
	job jobsql.NewJob // to be added
}

func (r *copyRows) begin(jobs int) {
	r.buf = make([]byte, 0, 400*jobs)
	r.buf = append(r.buf, "PGCOPY\n\xff\r\n\x00"...)
	r.buf = append(r.buf, 0, 0, 0, 0, 0, 0, 0, 0) // no flags, no extension
}

func (r *copyRows) end() { r.buf = append(r.buf, 0xff, 0xff) }

func (r *copyRows) add() {
	j := &r.job
	r.buf = binary.BigEndian.AppendUint16(r.buf, uint16(len(jobsql.Inserted)))
	for i := range jobsql.Inserted {
		switch c := &jobsql.Inserted[i]; {
		case c.IsNull(j):
			r.null()
		case c.Text != nil:
			r.text(c.Text(j))
		case c.Small:
			r.int2(c.Number(j))
		case c.Number != nil:
			r.int4(c.Number(j))
		case c.Instant != nil:
			r.time(c.Instant(j))
		default:
			r.text(string(c.Same))
		}
	}
}

// text is also how JSON is read.
func (r *copyRows) text(s string) {
	r.buf = binary.BigEndian.AppendUint32(r.buf, uint32(len(s)))
	r.buf = append(r.buf, s...)
}

func (r *copyRows) null() { r.buf = append(r.buf, 0xff, 0xff, 0xff, 0xff) }

func (r *copyRows) int4(n int) {
	r.buf = append(r.buf, 0, 0, 0, 4)
	r.buf = binary.BigEndian.AppendUint32(r.buf, uint32(n))
}

func (r *copyRows) int2(n int) {
	r.buf = append(r.buf, 0, 0, 0, 2)
	r.buf = binary.BigEndian.AppendUint16(r.buf, uint16(n))
}

// epoch is what PostgreSQL counts microseconds from.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()

func (r *copyRows) time(t time.Time) {
	r.buf = append(r.buf, 0, 0, 0, 8)
	r.buf = binary.BigEndian.AppendUint64(r.buf, uint64(t.UnixMicro()-epoch))
}
