package postroom_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// internalPackages says of each package below internal who may import it, tests aside, and what it may import besides the
// standard library. It serves two packages at least: what one needs stands in that one. It holds no words of the domain,
// so it imports none of the packages that users see, but for those that only tests use.
var internalPackages = map[string]struct {
	users   []string
	imports []string
}{
	"internal/attempts": {users: []string{"gmail", "rules"}},
	"internal/dbtext":   {users: []string{"gmail", "rules", "safety"}},
	"internal/dbtime": {users: []string{
		"gmail", "rules", "safety", "queue", "queue/postgres", "queue/sqlite", "queue/queuetest",
		"internal/joblist", "internal/jobrow", "internal/jobschedule", "internal/jobstats",
	}},
	"internal/fields": {users: []string{"gmail", "gmail/gmailtest", "llm", "rules", "safety", "undo"}},
	"internal/migrate": {
		users:   []string{"gmail", "gmail/gmailtest", "queue", "rules", "safety"},
		imports: []string{"github.com/jmoiron/sqlx"},
	},
	"internal/uuid7": {users: []string{"gmail", "rules", "safety"}, imports: []string{"github.com/google/uuid"}},

	// For tests only.
	"internal/dbtest": {imports: []string{
		"queue", "queue/postgres", "queue/sqlite", "github.com/google/uuid", "github.com/stretchr/testify/require",
	}},
	"internal/forest": {imports: []string{
		"queue", "github.com/google/uuid", "github.com/stretchr/testify/require", "go.uber.org/goleak",
	}},

	// Of the drivers.
	"internal/joblimit":    {users: []string{"queue", "queue/postgres", "queue/sqlite", "queue/queuetest"}},
	"internal/joblist":     {users: []string{"queue/postgres", "queue/sqlite"}, imports: []string{"queue", "internal/dbtime", "internal/jobrow"}},
	"internal/jobrow":      {users: []string{"queue/postgres", "queue/sqlite", "internal/joblist", "internal/jobschedule", "internal/jobstats"}, imports: []string{"queue", "internal/dbtime"}},
	"internal/jobschedule": {users: []string{"queue/postgres", "queue/sqlite"}, imports: []string{"queue", "internal/dbtime", "internal/jobrow", "github.com/jmoiron/sqlx"}},
	"internal/jobstats":    {users: []string{"queue/postgres", "queue/sqlite"}, imports: []string{"queue", "internal/dbtime", "internal/jobrow", "github.com/jmoiron/sqlx"}},
}

func TestInternalPackagesStayWhereTheyBelong(t *testing.T) {
	for _, line := range list(t, "./...", `{{.ImportPath}}:{{join .Imports ","}}`) {
		path, imports, _ := strings.Cut(line, ":")
		importer := ours(path)
		self, isInternal := internalPackages[importer]
		for imported := range strings.SplitSeq(imports, ",") {
			name := ours(imported)
			if used, ok := internalPackages[name]; ok {
				require.Contains(t, used.users, importer, "package %q imports %q: add it to the users if both need the same, "+
					"and else write what it needs in the package itself", importer, name)
			}
			if isInternal && !standard(imported) {
				require.Contains(t, self.imports, name, "package %q imports %q: an internal package serves those above it "+
					"and knows little", importer, name)
			}
		}
	}
}

func TestEveryInternalPackageIsListed(t *testing.T) {
	var found []string
	for _, path := range list(t, "./internal/...", "{{.ImportPath}}") {
		found = append(found, ours(path))
	}
	for path, p := range internalPackages {
		require.Contains(t, found, path, "a package that is gone needs no line in internalPackages")
		onlyTests := slices.Contains(p.imports, "github.com/stretchr/testify/require")
		require.True(t, onlyTests || len(p.users) > 1, "package %q serves only one package: its content belongs there", path)
	}
	for _, path := range found {
		require.Contains(t, internalPackages, path, "a new internal package needs a line in internalPackages")
	}
}

// ours is the path of a package below our module, and the whole path of another's.
func ours(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
}

// standard reports whether the package is of the standard library, whose paths do not begin with a domain.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}
