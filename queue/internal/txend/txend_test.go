package txend

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
)

// ending are texts that end the transaction on both engines, by the word that does.
var ending = map[string]string{
	"COMMIT":                              "COMMIT",
	"commit;":                             "COMMIT",
	" \t\r\n\f\vCommit Work":              "COMMIT",
	"COMMIT AND CHAIN":                    "COMMIT",
	"COMMIT PREPARED 'x'":                 "COMMIT",
	"END":                                 "END",
	"end transaction":                     "END",
	"ABORT":                               "ABORT",
	"PREPARE TRANSACTION 'x'":             "PREPARE",
	"prepare /* x */ transaction 'x'":     "PREPARE",
	"ROLLBACK":                            "ROLLBACK",
	"rollback work and chain":             "ROLLBACK",
	"ROLLBACK AND CHAIN":                  "ROLLBACK",
	"ROLLBACK PREPARED 'to'":              "ROLLBACK",
	"ROLLBACK; BEGIN":                     "ROLLBACK",
	"ROLLBACK TO s; ROLLBACK":             "ROLLBACK",
	"SELECT 1; COMMIT; BEGIN":             "COMMIT",
	"SELECT 1;COMMIT":                     "COMMIT",
	"SELECT 1;;; END":                     "END",
	";COMMIT":                             "COMMIT",
	"/* x */ COMMIT":                      "COMMIT",
	"/**/COMMIT":                          "COMMIT",
	"-- x\nCOMMIT":                        "COMMIT",
	"--\n--COMMIT\n/* ; */COMMIT--":       "COMMIT",
	"SELECT ';' /* ; */, \";\"; ROLLBACK": "ROLLBACK",
	"SELECT 'it''s'; COMMIT":              "COMMIT",
	"SELECT (1); COMMIT":                  "COMMIT",
	"SELECT ); COMMIT":                    "COMMIT",
	"SELECT begin atomic; COMMIT":         "COMMIT",
	"SELECT 'ROLLBACK'; ROLLBACK":         "ROLLBACK",
	"CREATE TABLE begin (n INT); COMMIT":  "COMMIT",
}

var endingPostgres = map[string]string{
	"/* /* */ */ COMMIT":            "COMMIT",
	"SELECT $$;$$; COMMIT":          "COMMIT",
	"SELECT $q$ $$ $q$; COMMIT":     "COMMIT",
	"SELECT a$b$; COMMIT":           "COMMIT",
	"SELECT $1; COMMIT":             "COMMIT",
	"SELECT $; COMMIT":              "COMMIT",
	"SELECT E'\\''; COMMIT":         "COMMIT",
	"SELECT '\\'; COMMIT; --'":      "COMMIT",
	"SELECT ae'\\'; COMMIT; --'":    "COMMIT",
	"SELECT E'a' '\\'; COMMIT; --'": "COMMIT",
	"SELECT a[1]; COMMIT":           "COMMIT",
	"-- x\rCOMMIT":                  "COMMIT",
	"CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; END; COMMIT":             "COMMIT",
	"CREATE FUNCTION f(begin atomic) RETURNS int AS 'SELECT 1' LANGUAGE sql; COMMIT": "COMMIT",
	"CREATE RULE r AS ON INSERT TO t DO ALSO (SELECT 1; SELECT 2); COMMIT":           "COMMIT",
}

var endingSQLite = map[string]string{
	"/* /* */ COMMIT":          "COMMIT",
	"SELECT '\\'; COMMIT; --'": "COMMIT",
	"SELECT E'\\'; COMMIT":     "COMMIT",
	"SELECT [it's]; COMMIT":    "COMMIT",
	"SELECT `it's`; COMMIT":    "COMMIT",
	"SELECT $a; COMMIT":        "COMMIT",
	"CREATE TRIGGER t AFTER INSERT ON n BEGIN SELECT 1; END; COMMIT": "COMMIT",
}

// staying are texts that do not, on either engine.
var staying = []string{
	"", " ", ";", "-- COMMIT", "/* COMMIT */", "SELECT 1", "SELECT 1;", "SELECT 1; ", "COMMITTED", "commit_all",
	"enders()",
	"ROLLBACK TO s", "ROLLBACK TO SAVEPOINT s", "rollback work to s", "ROLLBACK TRANSACTION TO SAVEPOINT s; SELECT 1",
	"ROLLBACK/**/TO s",
	"SAVEPOINT s", "RELEASE s", "BEGIN", "PREPARE p AS SELECT 1", "PREPARE", "EXPLAIN SELECT 1",
	"INSERT INTO t VALUES ('; COMMIT')", "INSERT INTO t VALUES ('it''s; COMMIT')", `SELECT "; COMMIT"`,
	`SELECT """; COMMIT"`,
	"SELECT 1 /* ; COMMIT */", "SELECT 1 -- ; COMMIT", "SELECT 1; -- ; COMMIT\n SELECT 2",
	"SELECT CASE WHEN a THEN b END", "SELECT commit FROM t; SELECT end FROM t", "UPDATE t SET rollback = 1; SELECT 1",
	"SELECT '", "SELECT 1; '; COMMIT", "/* COMMIT",
}

var stayingPostgres = []string{
	"DO $$ BEGIN COMMIT; END $$", "DO $a$ BEGIN; $$; ROLLBACK; END $a$; SELECT 1", "SELECT 1; SELECT $x$; COMMIT",
	"SELECT $é1$; COMMIT; $é1$",
	`SELECT E'\'; COMMIT; --'`, `SELECT e'\\\'; COMMIT; --'`, "SELECT E'a'\n'\\'; COMMIT; --'",
	"SELECT E'a' -- x\n '\\'; COMMIT; --'", "SELECT $1$$; COMMIT$$",
	"SELECT 1; /* /* */ COMMIT */", "SELECT U&'; COMMIT'",
	"CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT CASE WHEN true THEN 1 END; END",
	"CREATE OR REPLACE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; END; SELECT 1",
	"create procedure p() begin atomic end; select 1",
	"CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$",
}

var stayingSQLite = []string{
	"SELECT [; COMMIT]", "SELECT `; COMMIT`", "SELECT 1 -- x\r; COMMIT",
	"CREATE TRIGGER t AFTER INSERT ON n BEGIN SELECT 1; SELECT end FROM n; END",
	"CREATE TEMP TRIGGER IF NOT EXISTS t AFTER INSERT ON n BEGIN SELECT CASE 1 WHEN 1 THEN 2 END; END; SELECT 1",
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		dialect driver.Dialect
		ending  map[string]string
		staying []string
	}{{driver.Postgres, endingPostgres, stayingPostgres}, {driver.SQLite, endingSQLite, stayingSQLite}} {
		for _, texts := range []map[string]string{ending, c.ending} {
			for text, word := range texts {
				require.Equal(t, word, find(c.dialect, text), "%s: %s", c.dialect, text)
				require.Equal(t, word, find(c.dialect, "SELECT 1; "+text), "%s: %s", c.dialect, text)
			}
		}
		for _, text := range append(staying, c.staying...) {
			require.Empty(t, find(c.dialect, text), "%s: %s", c.dialect, text)
			undoes, err := Refuse(c.dialect, text)
			require.NoError(t, err)
			require.False(t, undoes)
		}
	}
}

func TestRefuseSaysWhatToDo(t *testing.T) {
	undoes, err := Refuse(driver.Postgres, "SELECT 1; rollback; begin")
	require.EqualError(t, err,
		"postgres: ROLLBACK would end the transaction, which ends with the function given to Write: return nil to commit, "+
			"return an error to roll back, or undo a part with SAVEPOINT and ROLLBACK TO")
	require.True(t, undoes)
	undoes, err = Refuse(driver.SQLite, "COMMIT")
	require.ErrorContains(t, err, "sqlite: COMMIT would end the transaction")
	require.False(t, undoes)
}

// What is quoted ends nothing, and what follows it does.
func FuzzFind(f *testing.F) {
	for text := range ending {
		f.Add(text)
	}
	for _, text := range append(append(staying, stayingPostgres...), stayingSQLite...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, dialect := range []driver.Dialect{driver.Postgres, driver.SQLite} {
			if upper := strings.ToUpper(text); !strings.Contains(upper, "COMMIT") && !strings.Contains(upper, "END") &&
				!strings.Contains(upper, "ABORT") &&
				!strings.Contains(upper, "ROLLBACK") && !strings.Contains(upper, "PREPARE") {
				require.Empty(t, find(dialect, text))
			}
			for _, quoted := range []string{
				"'" + strings.ReplaceAll(text, "'", "''") + "'", `"` + strings.ReplaceAll(text, `"`, `""`) + `"`,
				"/*" + strings.NewReplacer("*", "", "/", "").Replace(text) + "*/", "--" +
					strings.NewReplacer("\n", "", "\r", "").Replace(text) + "\n",
			} {
				require.Empty(t, find(dialect, "SELECT 1 "+quoted+";"))
				require.Equal(t, "COMMIT", find(dialect, "SELECT 1 "+quoted+"; COMMIT"))
			}
		}
		dollars := "$q$" + strings.ReplaceAll(text, "$", "") + "$q$"
		require.Empty(t, find(driver.Postgres, "SELECT "+dollars+";"))
		require.Equal(t, "COMMIT", find(driver.Postgres, "SELECT "+dollars+"; COMMIT"))
		escaped := "E'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) + "'"
		require.Empty(t, find(driver.Postgres, "SELECT "+escaped+";"))
		require.Equal(t, "COMMIT", find(driver.Postgres, "SELECT "+escaped+"; COMMIT"))
	})
}

func BenchmarkFind(b *testing.B) {
	for name, text := range map[string]string{
		"insert": "\nINSERT INTO orders (id) VALUES ($1)", "rollback to": "ROLLBACK TO s",
		"two": "INSERT INTO orders (id) VALUES (1); UPDATE orders SET id = 2",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				find(driver.Postgres, text)
			}
		})
	}
}
