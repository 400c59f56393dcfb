package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/sqlite/internal/libsqlite"
)

func TestNumberedParameters(t *testing.T) {
	for text, want := range map[string]string{
		"SELECT 1":              "SELECT 1",
		"SELECT $2, $1, $2":     "SELECT ?2, ?1, ?2",
		"SELECT $10,$1":         "SELECT ?10,?1",
		"SELECT '$1', $1":       "SELECT '$1', ?1",
		"SELECT 'it''s $1',$1":  "SELECT 'it''s $1',?1",
		`SELECT "$1", [$1], $1`: `SELECT "$1", [$1], ?1`,
		"SELECT `$1`, $1":       "SELECT `$1`, ?1",
		"SELECT 1 -- $1\n, $1":  "SELECT 1 -- $1\n, ?1",
		"SELECT /* $1 */ $1":    "SELECT /* $1 */ ?1",
		"SELECT a$1, $1":        "SELECT a$1, ?1",
		"SELECT $a, $1":         "SELECT $a, ?1",
		"SELECT $1a, $0, $":     "SELECT $1a, $0, $",
		"SELECT $1::text":       "SELECT $1::text",
		"SELECT $1(x), $1":      "SELECT $1(x), ?1",
		"SELECT :a$1, @b$1, $1": "SELECT :a$1, @b$1, ?1",
		"SELECT '$1":            "SELECT '$1",
		"SELECT $1->'$.a'":      "SELECT ?1->'$.a'",
		"SELECT 'ü$1', ü$1, $1": "SELECT 'ü$1', ü$1, ?1",
	} {
		require.Equal(t, want, numbered(text))
	}
}

// Of the statements of a text each would be given the values from the first on, or from where another stopped.
func TestParametersOfSeveralStatementsAreRefused(t *testing.T) {
	for text, refused := range map[string]bool{
		"INSERT INTO a VALUES ($1); INSERT INTO b VALUES ($1)": true,
		"INSERT INTO a VALUES (1); INSERT INTO b VALUES ($1)":  true,
		"INSERT INTO a VALUES ($1); -- over\n /* it is */ ; ":  false,
		"INSERT INTO a VALUES (1); INSERT INTO b VALUES (2)":   false,
		"INSERT INTO a VALUES ('; $1'); DELETE FROM b":         false,
		"INSERT INTO a VALUES ($1)":                            false,
	} {
		require.Equal(t, refused, single(text) != nil, text)
	}
}

// bound runs the text on SQLite, with each parameter $n bound by its name or by its number, and returns the row.
func bound(t *testing.T, conn libsqlite.Conn, text string, byName bool) (row []driver.Value, ok bool) {
	t.Helper()
	args := make([]driver.NamedValue, 9)
	for i := range args {
		args[i] = driver.NamedValue{Ordinal: i + 1, Value: int64(i + 101)}
		if byName {
			args[i].Name = strconv.Itoa(i + 1)
		}
	}
	rows, err := conn.QueryContext(context.Background(), text, args)
	if err != nil {
		return nil, false
	}
	defer rows.Close()
	row = make([]driver.Value, len(rows.Columns()))
	if err := rows.Next(row); err != nil && !errors.Is(err, io.EOF) {
		return nil, false
	}
	return row, true
}

// otherParameters may also find text in quotes, which is tried elsewhere.
var otherParameters = regexp.MustCompile(`[?:@#;\x00]|\$[^1-9.]|\$$|\$[1-9]\(|\$[1-9][\w$]|\$[1-9][^\x00-\x7f]`)

// SQLite itself says which parameters a text has: it is given their values by name.
func FuzzNumberedParameters(f *testing.F) {
	for _, text := range []string{
		"$2, $1", "'$1', $1", `"$1", $2`, "[$1], $2", "`$1`, $3", "1 -- $1\n, $2", "/* $1 */ $2", "/*/ $1 */ $2", "$1 /* $2",
		"x'00', $1", "1.5e3, $9", "$1 AS a$1", "'it''s', $1, '''$2'", "$1->>'$.a'", "json('[1]')->'$.x', $2", "1e$1", "0x$1",
		"$1$2", "$1 --", "-$1", "--$1\r, $2\n, $3", "$3 AS [a]]b], $1", "$1 AS ü$2",
	} {
		f.Add(text)
	}
	opened, err := libsqlite.Driver().Open(":memory:")
	require.NoError(f, err)
	conn, ok := libsqlite.ConnOf(opened)
	require.True(f, ok)
	f.Cleanup(func() { _ = conn.Close() })
	f.Fuzz(func(t *testing.T, text string) {
		if otherParameters.MatchString(text) {
			t.Skip("it has parameters of other kinds, or several statements")
		}
		query := "SELECT " + text
		named, ok := bound(t, conn, query, true)
		if !ok {
			return
		}
		plain, ok := bound(t, conn, numbered(query), false)
		require.True(t, ok, numbered(query))
		require.Equal(t, named, plain, numbered(query))
	})
}
