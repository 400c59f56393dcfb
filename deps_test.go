package postroom_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/postroom-go/postroom"

// What a package may know of the others. An arrow that is not here is one that makes a package useless without another.
var mayImport = map[string][]string{
	"": {},
	"queue": {"queue/driver", "queue/internal/built", "queue/internal/idle", "queue/internal/jsondiff",
		"queue/internal/naming",
		"queue/internal/stacks", "queue/internal/timetable", "queue/internal/txlock"},
	"queue/driver":                  {},
	"queue/driver/drivertest":       {"queue", "queue/driver"},
	"queue/flow":                    {"queue", "queue/driver", "queue/internal/txlock"},
	"queue/queueadmin":              {"queue", "queue/driver", "queue/internal/naming"},
	"queue/sqlite":                  {"queue/driver", "queue/internal/", "queue/sqlite/internal/"},
	"queue/postgres":                {"queue/driver", "queue/internal/"},
	"queue/queuetest":               {"queue", "queue/driver", "queue/sqlite"},
	"queue/queueencrypt":            {"queue"},
	"queue/queuehealth":             {"queue", "queue/driver", "queue/queueadmin"},
	"queue/chunk":                   {"queue"},
	"queue/queueui":                 {"queue", "queue/flow", "queue/queueadmin"},
	"mime":                          {"mime/"},
	"mime/authres":                  {"mime", "mime/internal/"},
	"mime/bounce":                   {"mime", "mime/htmltext", "mime/internal/"},
	"mime/charset":                  {},
	"mime/htmltext":                 {},
	"mime/lookalike":                {"mime", "mime/authres", "mime/htmltext"},
	"mime/reply":                    {"mime", "mime/htmltext"},
	"mime/safehtml":                 {},
	"mime/calendar":                 {"mime", "mime/internal/"},
	"gmail":                         {"", "queue", "mime", "mime/", "gmail/gmailapi", "gmail/mailindex", "gmail/mailstore", "gmail/outbox", "gmail/internal/"},
	"gmail/outbox":                  {"", "queue", "mime", "mime/", "gmail/gmailapi", "gmail/mailstore", "gmail/internal/"},
	"gmail/mailindex":               {"", "queue", "mime", "mime/", "gmail/internal/"},
	"gmail/mailstore":               {"", "queue", "mime", "mime/", "gmail/gmailapi", "gmail/mailindex", "gmail/internal/"},
	"gmail/gmailapi":                {"", "queue", "mime", "mime/"},
	"gmail/auth":                    {"gmail/mailstore", "gmail/gmailapi"},
	"gmail/auth/agefile":            {"gmail/auth"},
	"gmail/auth/keychain":           {"gmail/auth"},
	"gmail/auth/tokenstore":         {"gmail/auth", "gmail/auth/"},
	"gmail/pubsub":                  {"gmail"},
	"gmail/unsubscribe":             {"", "queue", "mime", "mime/", "gmail/gmailapi", "gmail/outbox"},
	"gmail/senders":                 {"", "queue", "mime", "mime/authres", "mime/reply", "gmail", "gmail/gmailapi", "gmail/mailindex", "gmail/mailstore"},
	"gmail/archive":                 {"", "queue", "mime", "gmail/gmailapi", "gmail/mailstore", "gmail/internal/"},
	"gmail/archive/folder":          {},
	"gmail/aging":                   {"", "queue", "gmail", "gmail/mailstore", "rules"},
	"gmail/escalation":              {"", "queue", "gmail", "gmail/gmailapi", "gmail/mailstore"},
	"gmail/replies":                 {"", "queue", "gmail/mailstore", "gmail/internal/"},
	"gmail/statistics":              {"", "queue"},
	"gmail/reminders":               {"", "queue", "gmail/internal/"},
	"gmail/tasks":                   {"", "queue", "gmail/internal/"},
	"gmail/filing":                  {"", "queue", "mime", "gmail/internal/"},
	"gmail/notes":                   {"", "queue", "mime/", "gmail/internal/"},
	"gmail/appointments":            {"", "queue", "mime", "gmail/gmailapi", "gmail/outbox", "gmail/internal/"},
	"gmail/drafting":                {"", "queue", "mime", "mime/", "gmail", "gmail/gmailapi", "gmail/mailstore", "gmail/outbox", "gmail/replies"},
	"gmail/voice":                   {"", "queue", "mime", "mime/", "gmail/mailindex", "gmail/mailstore"},
	"gmail/away":                    {"", "queue", "mime", "mime/", "gmail/gmailapi", "gmail/mailstore", "gmail/outbox"},
	"gmail/pipeline":                {"", "queue", "queue/driver", "gmail", "gmail/aging", "gmail/away", "gmail/gmailapi", "gmail/mailstore", "gmail/outbox", "gmail/senders", "gmail/telemetry", "rules", "rules/lessons", "rules/rulesfile", "rules/rulestore", "safety", "safety/activity", "safety/audit", "safety/checkpoint", "safety/events", "safety/stop", "undo"},
	"gmail/telemetry":               {"", "queue", "gmail", "gmail/outbox", "rules", "safety", "undo"},
	"gmail/pipeline/webapi":         {"", "queue", "gmail", "gmail/gmailapi", "gmail/mailstore", "gmail/outbox", "gmail/pipeline", "rules", "rules/rulestore", "safety", "safety/checkpoint", "safety/reasons", "safety/stop"},
	"gmail/gmailtest":               {"queue", "queue/sqlite", "mime", "mime/", "gmail/gmailtest/"},
	"gmail/gmailtest/cmd/gmailtest": {"gmail/gmailtest", "gmail/gmailtest/"},
	"gmail/gmailtest/faults":        {},
	"gmail/gmailtest/mailbox":       {"gmail/gmailtest/"},
	"gmail/gmailtest/oauth":         {"queue", "queue/sqlite", "gmail/gmailtest/"},
	"gmail/gmailtest/pubsub":        {"gmail/gmailtest/faults"},
	"gmail/gmailtest/sample":        {"gmail/gmailtest/"},
	"rules":                         {"", "queue", "mime", "mime/", "rules/internal/"},
	"rules/backtest":                {"", "mime/authres", "rules", "rules/internal/"},
	"rules/learn":                   {"", "mime", "mime/authres", "rules"},
	"rules/onboarding":              {"", "queue", "mime", "rules"},
	"rules/lessons":                 {"", "queue", "rules", "rules/backtest", "rules/learn", "rules/rulesfile"},
	"rules/rulesfile":               {"", "mime", "mime/", "rules", "rules/internal/"},
	"rules/rulestore":               {"", "queue", "rules"},
	"rules/sieve":                   {"", "rules", "rules/rulesfile", "rules/internal/"},
	"rules/gmailfilter":             {"", "rules", "rules/rulesfile", "rules/internal/"},
	"rules/ruleschat":               {"", "queue", "rules", "rules/rulesfile", "llm"},
	"llm":                           {"", "queue", "llm/internal/"},
	"llm/decide":                    {"", "queue", "mime", "mime/", "llm", "llm/guidance", "llm/internal/"},
	"llm/enrich":                    {"", "queue", "mime", "mime/", "llm/decide"},
	"llm/compose":                   {"", "mime", "mime/", "llm", "llm/internal/"},
	"llm/guidance":                  {"", "queue", "llm/internal/"},
	"llm/agent":                     {"", "queue", "mime", "mime/", "llm", "llm/internal/"},
	"llm/openai":                    {"llm", "llm/internal/"},
	"llm/anthropic":                 {"llm", "llm/internal/"},
	"llm/gemini":                    {"llm", "llm/internal/"},
	"llm/llmtest":                   {"llm", "llm/decide"},
	"llm/rediscache":                {"llm"},
	"safety":                        {"", "queue", "mime", "mime/", "safety/activity", "safety/audit", "safety/checkpoint", "safety/events", "safety/gate", "safety/groups", "safety/injection", "safety/internal/", "safety/limits", "safety/origin", "safety/stop", "safety/reasons"},
	"safety/checkpoint":             {"", "queue"},
	"safety/gate":                   {"", "mime/authres", "safety/injection", "safety/limits"},
	"safety/activity":               {"", "queue"},
	"safety/groups":                 {"queue"},
	"safety/reasons":                {},
	"safety/origin":                 {"", "mime", "mime/"},
	"safety/events":                 {"", "queue", "safety/audit"},
	"safety/limits":                 {"", "queue", "safety/events"},
	"safety/stop":                   {"", "queue", "safety/events"},
	"safety/injection":              {"", "mime", "mime/"},
	"safety/audit":                  {"queue"},
	"safety/discord":                {"", "queue", "safety", "safety/checkpoint", "safety/reasons"},
	"safety/discord/discordtest":    {},
	"safety/webhook":                {"", "queue", "safety", "safety/checkpoint", "safety/reasons"},
	"undo":                          {"", "queue", "safety"},
}

func TestPackagesImportOnlyWhatTheyMay(t *testing.T) {
	imports := make(map[string]string)
	for _, line := range list(t, "./...", `{{.ImportPath}}:{{join .Imports ","}}`) {
		path, imported, _ := strings.Cut(line, ":")
		imports[strings.TrimPrefix(strings.TrimPrefix(path, module), "/")] = imported
	}
	for name, allowed := range mayImport {
		t.Run("package "+name, func(t *testing.T) {
			require.Contains(t, imports, name, "there is no such package")
			for imported := range strings.SplitSeq(imports[name], ",") {
				other, ours := strings.CutPrefix(imported, module)
				other = strings.TrimPrefix(other, "/")
				if !ours || strings.HasPrefix(other, "internal/") {
					continue
				}
				require.True(t, allows(allowed, other), "package %q imports %q: packages meet only through the words in the root "+
					"and ask for the rest as interfaces, so that each is useful alone", name, other)
			}
		})
	}
}

func allows(allowed []string, other string) bool {
	for _, a := range allowed {
		if a == other || strings.HasSuffix(a, "/") && strings.HasPrefix(other+"/", a) {
			return true
		}
	}
	return false
}

// Every package says above what it may know.
func TestEveryPackageIsListed(t *testing.T) {
	for _, path := range list(t, "./...", "{{.ImportPath}}") {
		name := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
		if strings.HasPrefix(name, "examples/") || strings.Contains("/"+name, "/internal/") {
			continue
		}
		require.Contains(t, mayImport, name, "a new package needs a line in mayImport")
	}
}

// These are imported by programs that bring no C compiler, no database and no Google account.
func TestLightPackagesStayLight(t *testing.T) {
	forbidden := map[string]string{
		"github.com/chromedp":            "a browser belongs to tests only",
		"github.com/jackc/pgx/v5":        "it is a database driver; only queue/postgres links it",
		"google.golang.org/api/gmail/v1": "it is the Google client; only gmail/gmailapi links it",
		"github.com/openai/openai-go":    "an SDK of a provider is only in programs that want it; llm/openai links it",
		"github.com/anthropics":          "an SDK of a provider is only in programs that want it; llm/anthropic links it",
		"google.golang.org/genai":        "an SDK of a provider is only in programs that want it; llm/gemini links it",
		"github.com/redis":               "a shared cache is only in programs that want it; llm/rediscache links it",
		"go.opentelemetry.io/otel/sdk":   "which SDK exports traces and metrics is the program's choice; the API is enough",
		"github.com/stretchr/testify":    "test libraries do not belong into users' binaries",
		"pgregory.net/rapid":             "test libraries do not belong into users' binaries",
	}
	for _, name := range []string{".", "./mime", "./mime/calendar", "./mime/htmltext", "./mime/authres",
		"./mime/bounce", "./mime/charset", "./mime/lookalike", "./mime/reply", "./mime/safehtml", "./rules", "./rules/backtest",
		"./rules/rulesfile", "./rules/rulestore", "./rules/sieve", "./rules/gmailfilter", "./safety", "./undo",
		"./gmail/mailindex", "./queue", "./queue/queuehealth", "./queue/queueui", "./llm", "./llm/decide",
		"./llm/guidance", "./llm/agent", "./llm/enrich"} {
		t.Run("package "+name, func(t *testing.T) {
			// The standard library's own use of C is optional.
			for _, line := range list(t, name, "{{.ImportPath}}:{{and (not .Standard) .CgoFiles}}", "-deps") {
				dep, cgo, _ := strings.Cut(line, ":")
				for path, why := range forbidden {
					require.False(t, dep == path || strings.HasPrefix(dep, path+"/"), "package %s depends on %s: %s", name, dep, why)
				}
				require.Contains(t, []string{"false", "[]"}, cgo, "package %s needs a C compiler for %s", name, dep)
			}
		})
	}
}

// A host that keeps grants in its own way links neither a keychain nor an encryption.
func TestAuthBringsNoPlaceForGrants(t *testing.T) {
	for _, dep := range list(t, "./gmail/auth", "{{.ImportPath}}", "-deps") {
		for _, path := range []string{"github.com/zalando/go-keyring", "filippo.io/age"} {
			require.False(t, dep == path || strings.HasPrefix(dep, path+"/"),
				"package gmail/auth depends on %s: packages beside it do", path)
		}
	}
}

// A program that is pushed to, or polls, links no client of Pub/Sub.
func TestGmailBringsNoClientOfPubSub(t *testing.T) {
	for _, dep := range list(t, "./gmail", "{{.ImportPath}}", "-deps") {
		require.False(t, strings.HasPrefix(dep, "cloud.google.com/go/pubsub/"),
			"package gmail depends on %s: gmail/pubsub does", dep)
	}
}

// The SDKs of clouds cost 9 and 22 MB, and the daemon archives into a folder.
func TestTheArchiveBringsNoCloud(t *testing.T) {
	for _, pkg := range []string{"./gmail/archive", "./gmail/archive/folder", "./gmail/filing",
		"./examples/postroomd"} {
		for _, dep := range list(t, pkg, "{{.ImportPath}}", "-deps") {
			for _, path := range []string{"github.com/aws", "cloud.google.com/go/storage", "github.com/Azure",
				"gocloud.dev/blob/gcsblob", "gocloud.dev/blob/s3blob", "gocloud.dev/blob/azureblob"} {
				require.False(t, dep == path || strings.HasPrefix(dep, path+"/"),
					"package %s depends on %s: a program that wants it opens a bucket there by itself", pkg, dep)
			}
		}
	}
}

func TestTheSearchForCgoFindsIt(t *testing.T) {
	cgo := list(t, "./queue/sqlite", "{{if and (not .Standard) .CgoFiles}}{{.ImportPath}}{{end}}", "-deps")
	require.Equal(t, []string{"github.com/mattn/go-sqlite3"}, cgo)
}

func list(t *testing.T, pattern, format string, flags ...string) []string {
	t.Helper()
	args := append(append([]string{"list"}, flags...), "-f", format, pattern)
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=1")
	out, err := cmd.Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}

// A program that starts the daemon by itself links no commands, and what works is known to none of its doors.
func TestTheAppOfPostroomdHasNoCommands(t *testing.T) {
	for _, dep := range list(t, "./examples/postroomd/app", "{{.ImportPath}}", "-deps") {
		for _, path := range []string{"github.com/spf13/cobra", module + "/examples/postroomd/cli",
			module + "/examples/postroomd/httpapi", module + "/examples/postroomd/view"} {
			require.False(t, dep == path || strings.HasPrefix(dep, path+"/"),
				"package app depends on %s: commands and pages take the App", dep)
		}
	}
}

// A program that only reads mail, or decides about it, has no need of a web client.
func TestMimeBringsNoHTTP(t *testing.T) {
	// The library of mime/calendar brings one.
	for _, pkg := range []string{"./mime", "./mime/authres", "./mime/bounce", "./mime/charset", "./mime/htmltext",
		"./mime/lookalike", "./mime/reply", "./mime/safehtml"} {
		require.NotContains(t, list(t, pkg, "{{.ImportPath}}", "-deps"), "net/http", "package %s depends on net/http", pkg)
	}
}
