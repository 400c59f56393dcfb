package jobsql_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/jobsql"
)

// written is what an insert writes of a job, by column.
func written(job driver.InsertJob, now time.Time) map[string]string {
	j := jobsql.NewJobOf(&job, now)
	values := make(map[string]string)
	for _, c := range jobsql.Inserted {
		switch {
		case c.IsNull(&j):
			values[c.Name] = "NULL"
		case c.Text != nil:
			values[c.Name] = c.SQL(jobsql.Fixed(c.Text(&j)), "")
		case c.Number != nil:
			values[c.Name] = strconv.Itoa(c.Number(&j))
		case c.Instant != nil:
			values[c.Name] = c.Instant(&j).String()
		default:
			values[c.Name] = c.SQL(c.Same, "")
		}
	}
	return values
}

// What a new job has is written by one column, so that none is forgotten and none written twice.
func TestEveryFieldOfANewJobIsInserted(t *testing.T) {
	now := time.Now()
	empty := written(driver.InsertJob{}, now)
	for name, c := range map[string]struct {
		job  driver.InsertJob
		want []string
	}{
		"ID":             {driver.InsertJob{ID: "x"}, []string{"id"}},
		"Type":           {driver.InsertJob{Type: "x"}, []string{"type"}},
		"Payload":        {driver.InsertJob{Payload: []byte("1")}, []string{"payload_json"}},
		"Priority":       {driver.InsertJob{Priority: 1}, []string{"priority"}},
		"NotBefore":      {driver.InsertJob{NotBefore: now.Add(time.Hour)}, []string{"hold", "not_before"}},
		"NotBefore past": {driver.InsertJob{NotBefore: now.Add(-time.Hour)}, nil},
		"MaxAttempts":    {driver.InsertJob{MaxAttempts: 1}, []string{"max_attempts"}},
		"Key":            {driver.InsertJob{Key: driver.Key{Name: "k", Scope: driver.KeyPeriod, Period: 1}}, []string{"idempotency_key", "key_scope"}},
		"Fingerprint":    {driver.InsertJob{Fingerprint: "x"}, nil}, // that of the key, which has a table of its own
		"LimitKey":       {driver.InsertJob{LimitKey: "l"}, []string{"hold", "limit_key"}},
		"UserID":         {driver.InsertJob{UserID: "u"}, []string{"user_id"}},
		"Tags":           {driver.InsertJob{Tags: []string{"a"}}, []string{"tags_json"}},
		"ExpiresAt":      {driver.InsertJob{ExpiresAt: now}, []string{"expires_at"}},
		"TraceParent":    {driver.InsertJob{TraceParent: "p"}, []string{"trace"}},
	} {
		t.Run(name, func(t *testing.T) {
			var changed []string
			for column, value := range written(c.job, now) {
				if value != empty[column] {
					changed = append(changed, column)
				}
			}
			require.ElementsMatch(t, c.want, changed)
			plain := jobsql.NewJobOf(&c.job, now)
			nulls := slices.ContainsFunc(jobsql.Inserted, func(c jobsql.InsertColumn) bool { return c.Nullable && slices.Contains(changed, c.Name) })
			require.Equal(t, !nulls && !slices.Contains(changed, "hold"), plain.Plain())
		})
		field, _, _ := strings.Cut(name, " ")
		_, known := reflect.TypeFor[driver.InsertJob]().FieldByName(field)
		require.True(t, known, name)
	}
	require.Equal(t, 13, reflect.TypeFor[driver.InsertJob]().NumField(), "a new field needs a column, and a line above")
}

// A plain job has in each column what plain jobs are said to have.
func TestPlainJobsHaveWhatIsFixed(t *testing.T) {
	now := time.Now()
	values := written(driver.InsertJob{ID: "x"}, now)
	for _, c := range jobsql.Inserted {
		if c.Plain != "" {
			require.Equal(t, c.SQL(c.Plain, now.String()), values[c.Name], c.Name)
		}
		if c.Same != "" {
			require.Equal(t, c.SQL(c.Same, now.String()), values[c.Name], c.Name)
		}
		require.False(t, c.Nullable && values[c.Name] != "NULL", c.Name)
	}
}

// No insert names its columns by hand, whichever engine it is of, and none is positional.
func TestInsertsAreMadeOfTheTableOfColumns(t *testing.T) {
	byHand := regexp.MustCompile(`(?i)(INSERT INTO|COPY) jobs\s*\(\s*\w|idempotency_key, key_scope, limit_key, user_id`)
	var named []string
	require.NoError(t, filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		if found := byHand.FindString(string(source)); found != "" {
			named = append(named, filepath.Base(path))
		}
		return err
	}))
	require.Equal(t, []string{"columns.go"}, named)
}
