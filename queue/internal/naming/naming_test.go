package naming_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/driver"
	"github.com/postroom-go/postroom/queue/internal/naming"
)

func TestFill(t *testing.T) {
	const text = "SELECT 1 FROM /*q.*/jobs WHERE to_regclass(/*q.*/'jobs') IS NOT NULL"
	require.Equal(t, text, naming.New(driver.Names{}).Fill(text))
	require.Equal(t, "SELECT 1 FROM jobs WHERE to_regclass('jobs') IS NOT NULL", naming.New(driver.Names{}).Whole(text))
	for range 2 {
		require.Equal(t, `SELECT 1 FROM "mail".jobs WHERE to_regclass('mail.jobs') IS NOT NULL`,
			naming.New(driver.Names{Schema: "mail"}).Fill(text))
		require.Equal(t, `SELECT 1 FROM mail_jobs WHERE to_regclass('mail_jobs') IS NOT NULL`,
			naming.New(driver.Names{Prefix: "mail_"}).Fill(text))
	}
}

func TestPlainNamesCostNothing(t *testing.T) {
	plain := naming.New(driver.Names{})
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = plain.Fill("SELECT 1 FROM /*q.*/jobs") }))
}

// A program has any number of texts, which must not take the place of the queue's.
func TestFillKeepsNoTextWithoutPlaceholder(t *testing.T) {
	filler := naming.New(driver.Names{Prefix: "mail_"})
	for i := range 2000 {
		text := "SELECT " + strconv.Itoa(i)
		require.Equal(t, text, filler.Fill(text))
	}
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = filler.Fill("SELECT 1 FROM /*q.*/jobs") }))
}

func TestCheck(t *testing.T) {
	for _, name := range []string{"", "mail", "order", "_m2"} {
		require.NoError(t, naming.CheckSchema("Config.Schema", name))
		require.NoError(t, naming.CheckPrefix("Config.TablePrefix", name))
	}
	for _, name := range []string{"Mail", "2mail", "my-mail", `a"b`, "a.b", "ü", "mail\n", "pg_mail", "plpgsql", "information_schema",
		strings.Repeat("x", 49)} {
		require.ErrorContains(t, naming.CheckSchema("Config.Schema", name), "Config.Schema is "+strconv.Quote(name))
	}
	for _, name := range []string{"Mail_", "2_", "a b", "a'b", "sqlite_", strings.Repeat("x", 33)} {
		require.ErrorContains(t, naming.CheckPrefix("Config.TablePrefix", name),
			"Config.TablePrefix is "+strconv.Quote(name))
	}
}

// A statement that names a table without the placeholder finds that of another queue, or of the program.
func TestStatementsHaveThePlaceholder(t *testing.T) {
	for folder, dialects := range map[string][]driver.Dialect{
		"../jobsql":      {driver.SQLite, driver.Postgres},
		"../../sqlite":   {driver.SQLite},
		"../../postgres": {driver.Postgres},
	} {
		var names []string
		for _, dialect := range dialects {
			objects, err := naming.Created(os.DirFS("../.."), dialect)
			require.NoError(t, err)
			require.Greater(t, len(objects), 20)
			for _, o := range objects {
				names = append(names, o.Name)
			}
		}
		// PostgreSQL finds a column by the plain name of its table, and locks by it.
		mention := regexp.MustCompile(`(^|[^\w/'$])(` + strings.Join(names, "|") + `)\b(\.?)`)
		for _, text := range texts(t, folder) {
			// A channel, or a name that the server looks up.
			for _, found := range literals.FindAllString(text, -1) {
				t.Errorf("%s: the literal must stand after %s in\n%s\nin\n%s", folder, naming.Placeholder, found, text)
			}
			text = ignored.ReplaceAllString(text, "''")
			for _, found := range mention.FindAllStringSubmatchIndex(text, -1) {
				before, qualifies := text[:found[4]], found[6] < found[7]
				if strings.HasSuffix(before, naming.Placeholder) || strings.HasSuffix(before, " OF ") ||
					qualifies && folder == "../../postgres" {
					continue
				}
				t.Errorf("%s: %s must stand after %s in\n%s", folder, text[found[4]:found[5]], naming.Placeholder, text)
			}
		}
	}
}

var (
	ignored  = regexp.MustCompile(`'[^']*'|--.*`)
	literals = regexp.MustCompile(`pg_notify\('|[^/]'\w+'::regclass|to_regclass\('|_size\('`)
	speaks   = regexp.MustCompile(`\b(SELECT|FROM|WHERE|INTO|UPDATE|DELETE|JOIN|COPY|AND|SET)\b`)
)

// texts returns the texts of SQL in a folder's files.
func texts(t *testing.T, folder string) (all []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, err := strconv.Unquote(lit.Value)
				require.NoError(t, err)
				if speaks.MatchString(text) {
					all = append(all, text)
				}
			}
			return true
		})
	}
	require.NotEmpty(t, all)
	return all
}
