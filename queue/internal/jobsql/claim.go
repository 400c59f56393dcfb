package jobsql

import (
	"database/sql"
	"encoding/json"
	"errors"
	"math"
	"strings"

	"github.com/postroom-go/postroom/queue/driver"
)

// ClaimColumns are those of a queued job that a claim cannot know, and the row's number. What few jobs have is one
// column, so that the others do not pay for it.
var ClaimColumns = `rowid, ` + namesOf(claimColumns) + `, CASE
    WHEN COALESCE(` + namesOf(rareColumns) + `) IS NOT NULL
    THEN json_array(` + textsOf(rareColumns) + `)
  END`

// textsOf has a BLOB, which somebody has written into a row, not stop the claim of others: JSON cannot hold one.
func textsOf(columns []column) string {
	texts := make([]string, len(columns))
	for i, c := range columns {
		texts[i] = "CAST(" + c.name + " AS TEXT)"
	}
	return strings.Join(texts, ", ")
}

// ScanClaimed reads rows of [ClaimColumns], about as many as expected, and closes them.
func ScanClaimed(rows Rows, err error, expected, bytes int) (jobs []driver.Job, numbers []int64, _ error) {
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	var (
		number int64
		size   int
		few    sql.RawBytes
		r      = jobReader{dest: make([]any, 1, len(claimColumns)+2)}
	)
	r.dest[0] = &number
	r.add(claimColumns)
	r.dest = append(tolerant(r.dest), &few)
	jobs, numbers = make([]driver.Job, 0, expected), make([]int64, 0, expected)
	for rows.Next() {
		if err := r.read(rows); err != nil {
			return nil, nil, err
		}
		if err := addRare(&r.job, few); err != nil {
			return nil, nil, err
		}
		jobs, numbers = append(jobs, r.job), append(numbers, number)
		if size += len(r.job.Payload); bytes > 0 && size >= bytes {
			break
		}
	}
	return jobs, numbers, rows.Err()
}

// An integer is scanned as it is: database/sql makes a text of what it scans into an int, and parses that.
type integer int

func (n *integer) Scan(src any) error {
	v, ok := src.(int64)
	if !ok {
		v = math.MaxInt // of a row that somebody has altered; see [Instant]
	}
	*n = integer(v)
	return nil
}

func addRare(job *driver.Job, columns []byte) error {
	if columns == nil {
		return nil
	}
	values := make([]*string, len(rareColumns))
	// One that is no text, because somebody has altered the row, is left out.
	if err := json.Unmarshal(columns, &values); err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
		return err
	}
	for i, c := range rareColumns {
		if values[i] == nil {
			continue
		}
		assign(c.field(job), *values[i])
	}
	return nil
}
