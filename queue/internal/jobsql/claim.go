package jobsql

import (
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/postroom-go/postroom/queue/driver"
)

// ClaimColumns are those of a queued job that a claim cannot know, and the row's number. What few jobs have is one column,
// so that the others do not pay for it.
const ClaimColumns = `rowid, ` + claimedColumns + `, CASE
    WHEN COALESCE(` + rareColumns + `) IS NOT NULL
    THEN json_array(` + rareColumns + `)
  END`

// ScanClaimed reads rows of [ClaimColumns], about as many as expected, and closes them.
func ScanClaimed(rows Rows, err error, expected int) (jobs []driver.Job, numbers []int64, _ error) {
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	var (
		number int64
		few    sql.RawBytes
		r      = jobReader{dest: make([]any, 1, len(claimed)+2)}
	)
	r.dest[0] = &number
	r.add(claimed)
	for i, dest := range r.dest {
		if n, ok := dest.(*int); ok {
			r.dest[i] = (*integer)(n)
		}
	}
	r.dest = append(r.dest, &few)
	jobs, numbers = make([]driver.Job, 0, expected), make([]int64, 0, expected)
	for rows.Next() {
		if err := r.read(rows); err != nil {
			return nil, nil, err
		}
		if err := addRare(&r.job, few); err != nil {
			return nil, nil, err
		}
		jobs, numbers = append(jobs, r.job), append(numbers, number)
	}
	return jobs, numbers, rows.Err()
}

// An integer is scanned as it is: database/sql makes a text of what it scans into an int, and parses that.
type integer int

func (n *integer) Scan(src any) error {
	v, ok := src.(int64)
	if !ok {
		return fmt.Errorf("a number is stored as %T", src)
	}
	*n = integer(v)
	return nil
}

func addRare(job *driver.Job, columns []byte) error {
	if columns == nil {
		return nil
	}
	var values []*string
	if err := json.Unmarshal(columns, &values); err != nil {
		return err
	}
	for i, c := range rare {
		if values[i] == nil {
			continue
		}
		if err := assign(c.field(job), *values[i]); err != nil {
			return err
		}
	}
	return nil
}
