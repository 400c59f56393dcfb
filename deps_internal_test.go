package postroom_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// internalPackages lists each internal package with the packages that may import it, tests aside, and what it may
// import besides the standard library. An internal package serves two others at least: what only one needs belongs
// there. It imports none of the packages that users see, except in packages for tests, below queue, and where it
// translates between two of them.
var internalPackages = map[string]struct {
	users   []string
	imports []string
}{
	"internal/attempts": {users: []string{"gmail/appointments", "rules/lessons", "rules/onboarding", "gmail/reminders",
		"gmail/archive", "llm/enrich", "llm/agent", "gmail/voice", "gmail/drafting",
		"gmail/aging", "gmail", "gmail/pipeline", "gmail/outbox", "gmail/replies", "rules", "safety/discord",
		"safety/webhook",
		"undo", "examples/postroomd/",
	}},
	"internal/dbquery": {
		users: []string{"gmail/statistics",
			"gmail/filing", "gmail/notes", "gmail/appointments", "rules/lessons", "rules/onboarding", "gmail/reminders",
			"gmail/archive", "gmail/away",
			"gmail/tasks", "gmail/voice", "gmail/drafting", "gmail/unsubscribe", "llm/agent",
			"gmail/aging", "gmail", "gmail/gmailtest", "gmail/gmailtest/oauth", "gmail/replies", "llm", "llm/enrich",
			"llm/decide", "llm/guidance",
			"rules/rulestore",
			"rules/ruleschat", "safety", "safety/discord", "gmail/gmailapi", "safety/audit", "gmail/internal/maildb",
			"gmail/internal/worldtest", "gmail/mailindex", "gmail/mailstore", "gmail/outbox",
			"safety/checkpoint", "safety/events", "safety/limits", "safety/stop", "examples/postroomd/mcp",
			"examples/postroomd/notify",
			"examples/postroomd/app", "examples/postroomd/latency",
			"safety/activity", "safety/groups", "safety/internal/counts", "safety/internal/keyring",
			"examples/postroomd/tokens",
		},
		imports: []string{"github.com/jmoiron/sqlx", "github.com/jmoiron/sqlx/", "internal/dbvalue"},
	},
	"internal/dbvalue": {users: []string{"gmail/notes", "rules/lessons", "rules/onboarding", "gmail/away", "llm/agent",
		"gmail/voice", "gmail/drafting",
		"gmail/senders",
		"internal/dbquery", "gmail/outbox", "llm", "llm/enrich", "llm/decide", "llm/guidance", "rules/rulestore",
		"rules/ruleschat", "safety",
		"safety/discord", "gmail/gmailapi", "gmail/internal/maildb", "gmail/mailindex", "gmail/mailstore",
		"safety/events", "safety/stop",
	}},
	"internal/dbtime": {users: []string{"gmail/statistics",
		"gmail/appointments", "gmail/filing", "gmail/notes", "rules/lessons", "rules/onboarding",
		"gmail/reminders", "gmail/archive",
		"gmail/away", "gmail/tasks", "gmail/voice", "gmail/drafting", "gmail/unsubscribe", "llm/agent",
		"gmail/aging", "gmail", "gmail/replies", "llm", "llm/enrich", "llm/decide", "llm/guidance",
		"rules/rulestore", "rules/ruleschat", "safety", "safety/discord",
		"gmail/mailindex", "gmail/outbox", "queue", "queue/driver", "queue/driver/drivertest",
		"queue/internal/jobsql", "queue/postgres",
		"queue/queueadmin", "queue/queuetest", "queue/sqlite", "safety/audit", "gmail/mailstore",
		"safety/events", "safety/limits", "safety/stop", "examples/postroomd/mcp", "examples/postroomd/notify",
		"examples/postroomd/app", "examples/postroomd/latency",
		"safety/activity", "safety/groups", "safety/internal/counts",
		"examples/postroomd/tokens",
	}},
	"internal/dayspan": {users: []string{"rules", "safety/limits"}},
	"internal/fields": {users: []string{"gmail/statistics",
		"gmail/appointments", "gmail/filing", "gmail/notes", "rules/lessons", "rules/onboarding",
		"gmail/reminders", "gmail/archive",
		"gmail/away", "gmail/escalation", "gmail/tasks", "gmail/voice",
		"gmail/drafting", "llm/agent", "llm/compose",
		"gmail/aging", "gmail/replies", "gmail/senders", "gmail/unsubscribe", "examples/postroomd/notify",
		"gmail", "gmail/auth", "gmail/gmailtest", "gmail/outbox", "gmail/pubsub", "llm", "llm/enrich", "llm/decide",
		"llm/guidance", "rules",
		"rules/ruleschat", "safety", "safety/discord", "safety/webhook", "undo", "gmail/gmailapi",
		"rules/backtest", "rules/rulesfile", "rules/rulestore", "safety/audit", "gmail/mailstore", "gmail/pipeline",
		"gmail/pipeline/webapi",
	}},
	"internal/webui": {users: []string{"queue/queueui", "examples/postroomd/"}},
	"internal/gmailquery": {
		users: []string{"examples/postroomd/web", "gmail/mailindex", "gmail/gmailtest",
			"gmail/gmailtest/internal/rawmail", "rules/gmailfilter",
			"gmail/senders"},
		imports: []string{"golang.org/x/text/", "internal/suggest"},
	},
	"internal/mailname": {
		users: []string{"rules/learn", "rules/lessons",
			"gmail/unsubscribe", "examples/postroomd/subscriptions", "gmail/away", "llm/agent", "gmail/drafting",
			"gmail/senders", "gmail", "gmail/mailstore", "gmail/outbox", "rules", "rules/backtest",
			"safety", "safety/gate",
			"safety/origin", "examples/postroomd/mcp", "examples/postroomd/view"},
		imports: []string{"golang.org/x/net/"},
	},
	"internal/migrate": {
		users: []string{"gmail/statistics",
			"gmail/filing", "gmail/notes", "gmail/appointments", "rules/lessons", "rules/onboarding",
			"gmail/reminders", "gmail/archive", "gmail/away",
			"gmail/tasks", "gmail/voice", "gmail/drafting", "gmail/unsubscribe", "llm/agent",
			"gmail/mailstore", "gmail/gmailtest", "gmail/replies", "llm", "llm/enrich", "llm/decide", "llm/guidance",
			"queue", "queue/queueadmin", "rules/rulestore",
			"rules/ruleschat",
			"safety", "safety/discord", "examples/postroomd/", "safety/audit",
		},
		imports: []string{"github.com/jmoiron/sqlx"},
	},
	"internal/publichttp": {users: []string{"gmail/unsubscribe", "safety/webhook"}},
	// The words of the root, from a message that package mime has read.
	"internal/readmail": {users: []string{"gmail/mailstore", "rules", "rules/rulesfile"},
		imports: []string{"", "mime"}},
	// The visible text of a message, carried by the context of a job.
	"internal/bodytext": {
		users: []string{"llm/agent", "llm/compose", "gmail", "gmail/mailindex", "llm/enrich", "llm/decide", "rules",
			"safety/injection", "gmail/senders"},
		imports: []string{"", "mime/htmltext"},
	},
	"internal/scrypt": {users: []string{"gmail/auth/agefile"}},
	"internal/suggest": {users: []string{"internal/gmailquery", "rules", "examples/postroomd/", "examples/queuectl/",
		"rules/rulesfile"}},
	"queue/sqlite/internal/fileid":    {users: []string{"queue/sqlite"}, imports: []string{"golang.org/x/sys/unix"}},
	"queue/sqlite/internal/libsqlite": {users: []string{"queue/sqlite"}, imports: []string{"github.com/mattn/go-sqlite3"}},
	"internal/uuid7": {
		users: []string{"rules/lessons", "gmail/reminders", "gmail/away", "examples/postroomd/bulk",
			"examples/postroomd/subscriptions", "llm/agent",
			"gmail/mailstore", "llm", "llm/guidance", "rules",
			"rules/rulestore",
			"rules/ruleschat", "safety",
			"gmail/gmailapi",
			"safety/events", "examples/postroomd/mcp",
		},
		imports: []string{"github.com/google/uuid"},
	},

	// A write that is begun inside another.
	"queue/internal/nestedwrite": {users: []string{"queue/postgres", "queue/sqlite"}},
	// The differences of payloads, apart since they know nothing of the queue.
	"queue/internal/jsondiff": {users: []string{"queue"}},
	// When a dispatcher has nothing left to wait for, apart since it asks the driver alone.
	"queue/internal/idle": {users: []string{"queue"}, imports: []string{"queue/driver"}},
	// The statements of the engines, and the migrations of the queue, name the tables where they are.
	"queue/internal/naming": {
		users:   []string{"queue", "queue/postgres", "queue/queueadmin", "queue/sqlite"},
		imports: []string{"queue/driver"},
	},
	// Stacks of goroutines and locks of transactions, apart since they know nothing of the queue.
	"queue/internal/built":  {users: []string{"queue"}},
	"queue/internal/stacks": {users: []string{"queue"}},
	"queue/internal/txlock": {
		users:   []string{"queue", "queue/flow"},
		imports: []string{"github.com/jmoiron/sqlx", "queue/driver"},
	},
	// The instants of schedules, apart since they know nothing of the queue.
	"queue/internal/timetable": {users: []string{"queue"}, imports: []string{"github.com/robfig/cron/v3"}},
	// Statements that end a transaction.
	"queue/internal/txend": {users: []string{"queue/postgres", "queue/sqlite"}, imports: []string{"queue/driver"}},
	// Transactions of the program's own that were looked at.
	"queue/internal/adopted": {
		users:   []string{"queue/postgres", "queue/sqlite"},
		imports: []string{"github.com/jmoiron/sqlx", "queue/driver"},
	},
	// What claims may take under limits.
	"queue/internal/joblimit": {
		users:   []string{"queue/internal/jobsql", "queue/postgres", "queue/sqlite"},
		imports: []string{"queue/driver"},
	},
	// The SQL and the rows of the drivers.
	"queue/internal/jobsql": {
		users:   []string{"queue/postgres", "queue/sqlite"},
		imports: []string{"github.com/jmoiron/sqlx", "internal/dbtime", "queue/driver", "queue/internal/joblimit"},
	},
	// The text of prompts, and of answers on record.
	"llm/internal/cleantext": {users: []string{"llm/agent", "llm/compose", "llm", "llm/decide", "llm/guidance"}},
	// What counts against limits, apart since it only reads.
	"safety/internal/decisiontest": {imports: []string{"", "pgregory.net/rapid"}},
	"safety/internal/counts": {users: []string{"safety"}, imports: []string{"", "queue", "github.com/jmoiron/sqlx",
		"internal/dbquery", "internal/dbtime", "safety/limits", "safety/origin"}},
	// The keys of signatures, apart since they know nothing of what is signed.
	"safety/internal/keyring": {users: []string{"safety"}, imports: []string{"queue", "internal/dbquery"}},
	// The names that Windows gives to time zones.
	"mime/internal/windowszone": {users: []string{"mime", "mime/calendar"}},
	// The lexical parts of header fields.
	"mime/internal/fieldvalue": {users: []string{"mime", "mime/authres", "mime/bounce"}},
	// What the parts of rules share.
	"rules/internal/jsonschema": {users: []string{"rules", "rules/rulesfile"}},
	"rules/internal/lists":      {users: []string{"rules", "rules/gmailfilter", "rules/sieve", "rules/rulesfile"}},
	// The prefilter of a set of rules, apart since it knows nothing of rules.
	"rules/internal/prefilter":  {users: []string{"rules"}},
	"rules/internal/translate":  {users: []string{"rules/gmailfilter", "rules/sieve"}, imports: []string{"", "rules"}},
	"rules/internal/yamlscalar": {users: []string{"rules", "rules/backtest", "rules/rulesfile"}},
	// The HTTP client, the failures and the rate limits of the providers of models.
	"llm/internal/provider": {users: []string{"llm/openai", "llm/anthropic", "llm/gemini"}, imports: []string{"llm"}},
	// The rows of the packages of gmail.
	"gmail/internal/maildb": {
		users: []string{"gmail/notes", "gmail/appointments", "gmail/reminders", "gmail/archive", "gmail",
			"gmail/mailindex", "gmail/mailstore",
			"gmail/outbox", "gmail/replies", "gmail/tasks"},
		imports: []string{"", "queue", "internal/dbquery", "internal/dbvalue"},
	},
	// The files of a folder of the user, with names and contents of strangers.
	"gmail/internal/safefolder": {
		users:   []string{"gmail/notes", "gmail/filing", "gmail/appointments"},
		imports: []string{"", "queue", "mime/htmltext", "golang.org/x/text/"},
	},
	// Raw messages for the Gmail server and the mailboxes that are imported into it.
	"gmail/gmailtest/internal/rawmail": {
		users:   []string{"gmail/gmailtest", "gmail/gmailtest/mailbox"},
		imports: []string{"internal/gmailquery", "mime", "mime/", "golang.org/x/text/"},
	},
	// Errors, responses and requests in the forms of Google's APIs.
	"gmail/gmailtest/internal/wire": {users: []string{"gmail/gmailtest", "gmail/gmailtest/oauth"}},

	// For tests only.
	"rules/internal/rulestest": {imports: []string{
		"", "rules", "rules/rulesfile", "github.com/stretchr/testify/require", "pgregory.net/rapid",
	}},
	"rules/internal/storetest": {imports: []string{
		"queue", "rules", "rules/rulestore", "internal/dbtest", "github.com/stretchr/testify/require",
	}},
	"internal/corpora": {},
	"gmail/internal/worldtest": {imports: []string{
		"", "queue", "mime", "gmail/gmailapi", "gmail/gmailtest", "internal/dbquery", "github.com/stretchr/testify/require",
		"google.golang.org/api/gmail/v1",
	}},
	"internal/browsertest": {imports: []string{"internal/costtest", "github.com/chromedp/",
		"github.com/stretchr/testify/require"}},
	"internal/chaos":    {imports: []string{"github.com/stretchr/testify/require"}},
	"internal/costtest": {users: []string{"internal/browsertest"}, imports: []string{"github.com/stretchr/testify/require"}},
	"internal/dbtest": {users: []string{"rules/internal/storetest", "internal/jobtree"}, imports: []string{
		"queue", "queue/driver", "queue/postgres", "queue/sqlite", "github.com/google/uuid", "github.com/jackc/pgx/v5",
		"github.com/jackc/pgx/v5/pgxpool", "github.com/jmoiron/sqlx", "github.com/stretchr/testify/require",
		"go.uber.org/goleak",
	}},
	"internal/jobtree": {imports: []string{
		"queue", "queue/driver", "queue/queueadmin", "internal/dbtest", "github.com/google/uuid",
		"github.com/stretchr/testify/require",
	}},
}

func TestInternalPackagesStayWhereTheyBelong(t *testing.T) {
	for _, line := range list(t, "./...", `{{.ImportPath}}:{{join .Imports ","}}`) {
		path, imports, _ := strings.Cut(line, ":")
		importer := ours(path)
		self, isInternal := internalPackages[importer]
		for imported := range strings.SplitSeq(imports, ",") {
			name := ours(imported)
			if used, ok := internalPackages[name]; ok {
				require.True(t, allows(used.users, importer), "package %q imports %q: add it to the users if both need the same, "+
					"and else write what it needs in the package itself", importer, name)
			}
			if isInternal && !standard(imported) {
				require.True(t, allows(self.imports, name), "package %q imports %q: an internal package serves those above it "+
					"and knows little", importer, name)
			}
		}
	}
}

func TestEveryInternalPackageIsListed(t *testing.T) {
	var found []string
	for _, path := range list(t, "./...", "{{.ImportPath}}") {
		if strings.Contains(path, "/internal/") {
			found = append(found, ours(path))
		}
	}
	for path, p := range internalPackages {
		require.Contains(t, found, path, "a package that is gone needs no line in internalPackages")
		onlyTests := path == "internal/corpora" || path == "safety/internal/decisiontest" ||
			slices.Contains(p.imports, "github.com/stretchr/testify/require")
		// libsqlite is apart so that nothing else knows which library it is. Tests of several packages lower scrypt.
		// What differs by the operating system is apart, too.
		apart := slices.Contains([]string{"queue/sqlite/internal/libsqlite", "queue/sqlite/internal/fileid",
			"queue/internal/built",
			"queue/internal/idle", "queue/internal/jsondiff", "queue/internal/stacks",
			"queue/internal/timetable",
			"queue/internal/txlock", "rules/internal/prefilter", "internal/scrypt",
			"safety/internal/counts", "safety/internal/keyring"}, path)
		require.True(t, onlyTests || apart || len(p.users) > 1,
			"package %q serves only one package: its content belongs there", path)
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
