package config_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "run with -update when the change is meant")
}

// Every fault with its line and what to write instead, to the letter.
func TestFaultsRead(t *testing.T) {
	for _, name := range []string{"unknown", "values", "syntax", "twice", "llm", "models"} {
		t.Run(name, func(t *testing.T) {
			_, err := config.Load(config.Sources{File: "testdata/" + name + ".toml"})
			require.Error(t, err)
			golden(t, name+".txt", err.Error()+"\n")
		})
	}
}

// What stands in the arguments of a program is seen by all users of the machine.
func TestFlagsHoldNoSecrets(t *testing.T) {
	load := func(pair string) error {
		_, err := config.Load(config.Sources{Set: []string{pair}, Environ: []string{"SECRET=hunter2hunter2"}})
		return err
	}
	refused := []string{
		"paths.database=postgres://ada:hunter2hunter2@db/x", "paths.database=postgres://db/x?password=hunter2hunter2",
	}
	l, err := config.Load(config.Sources{})
	require.NoError(t, err)
	for _, v := range l.Values {
		if config.IsSecret(v.Key) {
			refused = append(refused, v.Key+"=hunter2hunter2")
			require.NotContains(t, fmt.Sprint(load(v.Key+"=env:SECRET")), "every user of the machine")
			require.NotContains(t, fmt.Sprint(load(v.Key+"=")), "every user of the machine")
		}
	}
	require.Greater(t, len(refused), 10)
	for _, pair := range refused {
		err := load(pair)
		require.ErrorContains(t, err, "every user of the machine sees the arguments")
		require.ErrorContains(t, err, "=env:NAME")
		require.NotContains(t, err.Error(), "hunter2")
	}
	require.NoError(t, load("paths.database=postgres://ada@db/x"))
	require.NoError(t, load("app.port=1"))
}

// Without a token, nothing but this machine reaches the program.
func TestListenBeyondThisMachineNeedsAToken(t *testing.T) {
	load := func(set ...string) (*config.Loaded, error) {
		return config.Load(config.Sources{Set: set, Environ: []string{"TOKEN=" + strings.Repeat("x", 32)}})
	}
	for _, address := range []string{"127.0.0.1", "127.0.0.2", "::1"} {
		_, err := load("app.listen=" + address)
		require.NoError(t, err)
	}
	for _, address := range []string{"0.0.0.0", "::", "192.0.2.1"} {
		_, err := load("app.listen=" + address)
		require.ErrorContains(t, err, "other machines reach "+address+", and nothing asks who they are")
		for _, section := range []string{"api", "mcp"} {
			_, err = load("app.listen="+address, section+".token=env:TOKEN")
			require.NoError(t, err)
		}
		_, err = load("app.listen="+address, "web.proxy_header=X-Email")
		require.NoError(t, err)
	}
	for _, odd := range []string{"", "localhost", "0.0.0.0:80"} {
		_, err := load("app.listen=" + odd)
		require.ErrorContains(t, err, "127.0.0.1, or 0.0.0.0 for all", odd)
	}
	l, err := load("app.listen=0.0.0.0", "app.port=7", "api.token=env:TOKEN")
	require.NoError(t, err)
	require.Equal(t, "0.0.0.0:7", l.Config.App.ListenAddress())
	require.Equal(t, "127.0.0.1:7", l.Config.App.OwnAddress())
}

func TestFaultsOfTheEnvironmentAndFlagsRead(t *testing.T) {
	_, err := config.Load(config.Sources{
		Environ: []string{"APP_PORT=all", "POSTROOMD_APP_PROT=1", "POSTROOMD_GMAIL_ADDRESS=ada", "PORT=x"},
		Set: []string{"app.colour=red", "colour=red", "app.workers", "schedules.labels_sync=hourly",
			"policy.approval_always=explode"},
	})
	require.Error(t, err)
	golden(t, "overrides.txt", err.Error()+"\n")
}

func load(t *testing.T, src config.Sources) *config.Loaded {
	t.Helper()
	l, err := config.Load(src)
	require.NoError(t, err)
	return l
}

func TestEverySettingOfAFile(t *testing.T) {
	t.Setenv("HOME", "/home/ada")
	folder, err := filepath.Abs("testdata")
	require.NoError(t, err)
	l := load(t, config.Sources{
		File: "testdata/full.toml",
		Environ: []string{"DATABASE_URL=postgres://ada:hunter2@db/mail", "GMAIL_TOKEN=ya29.hunter2",
			"LLM_API_KEY=sk-hunter2"},
	})
	want := config.Default()
	want.App = config.App{ServiceName: `mail "robot"`, Env: "prod", LogLevel: slog.LevelWarn, Listen: "127.0.0.2", Workers: 3,
		Drain: 90 * time.Second, Pprof: true}
	want.Paths = config.Paths{Data: config.Path(folder + "/data"), Database: "postgres://ada:hunter2@db/mail",
		Rules: "/home/ada/rules.yaml", MailboxRules: config.MailboxFiles{}}
	want.Telemetry.ExportMetrics = false
	want.Gmail = config.Gmail{Address: "ada@example.org", Endpoint: "http://127.0.0.1:8025", Token: "ya29.hunter2",
		OldMail:      config.LeaveOldMail,
		SpamAndTrash: true, SnoozeLabel: "Later"}
	want.Outbound = config.Outbound{MaxRecipients: 2, RecipientsDay: 3, ReplyInterval: time.Hour}
	want.Policy.ConfidenceDefault, want.Policy.ApprovalAlways, want.Policy.Approvers = 1, []string{},
		[]string{"ada", "grace"}
	want.Schedules.HistorySync = 0
	want.LLM.Provider, want.LLM.Model.Model, want.LLM.APIKey, want.LLM.OutputPrice = "openai", "small", "sk-hunter2", 2
	want.LLM.Temperature, want.LLM.TotalDollarsDay, want.LLM.KeepAnswers = 0, 1.5, 0
	require.Equal(t, want, l.Config)
	require.Empty(t, l.Warnings)

	var shown bytes.Buffer
	require.NoError(t, l.Show(&shown))
	golden(t, "full.txt", strings.ReplaceAll(shown.String(), folder, "FOLDER"))
	values, err := json.Marshal(l)
	require.NoError(t, err)
	for _, text := range []string{shown.String(), string(values),
		fmt.Sprintf("%v %+v %#v", l.Config, l.Config, l.Config)} {
		require.NotContains(t, text, "hunter2")
	}
}

func TestLaterSourcesOverride(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	require.NoError(t, os.WriteFile(file,
		[]byte("[app]\nport = 1\nworkers = 1\n[telemetry]\notlp_endpoint = \"http://file\"\n"), 0o600))
	l := load(t, config.Sources{
		File: file,
		Environ: []string{"APP_PORT=2", "OTLP_ENDPOINT=http://short", "POSTROOMD_TELEMETRY_OTLP_ENDPOINT=http://long",
			"POSTROOMD_APP_WORKERS=3", "POSTROOMD_POLICY_APPROVERS=ada, grace", "POSTROOMD_CONFIG=elsewhere"},
		Set: []string{"app.workers=4", "paths.rules=r.yaml"},
	})
	require.Equal(t, 2, l.Config.App.Port)
	require.Equal(t, 4, l.Config.App.Workers)
	require.Equal(t, "http://long", l.Config.Telemetry.OTLPEndpoint)
	require.Equal(t, []string{"ada", "grace"}, l.Config.Policy.Approvers)
	here, err := os.Getwd()
	require.NoError(t, err)
	require.Equal(t, filepath.Join(here, "r.yaml"), string(l.Config.Paths.Rules), "relative to where the flag was typed")

	from := map[string]string{}
	for _, v := range l.Values {
		from[v.Key] = v.From
	}
	require.Equal(t, "$APP_PORT", from["app.port"])
	require.Equal(t, "--set app.workers", from["app.workers"])
	require.Equal(t, "$POSTROOMD_TELEMETRY_OTLP_ENDPOINT", from["telemetry.otlp_endpoint"])
	require.Equal(t, "default", from["app.env"])
}

func TestSecretInTheFileIsWarnedOf(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	require.NoError(t, os.WriteFile(file, []byte("[gmail]\ntoken = \"hunter2\"\n"), 0o600))
	l := load(t, config.Sources{File: file})
	require.Len(t, l.Warnings, 1)
	require.Contains(t, l.Warnings[0].Hint, "env:GMAIL_TOKEN")
	require.Equal(t, 2, l.Warnings[0].Line)
	l = load(t, config.Sources{Environ: []string{"POSTROOMD_GMAIL_TOKEN=hunter2"}})
	require.Empty(t, l.Warnings)
}

func TestAModelOfTheEnvironment(t *testing.T) {
	l := load(t, config.Sources{Environ: []string{"MODEL=small"}})
	require.False(t, l.Config.LLM.Enabled(), "the variable may be there for another program")
	_, err := config.Load(config.Sources{Environ: []string{"POSTROOMD_LLM_MODEL=small"}})
	require.ErrorContains(t, err, "llm.provider is not set")
	l = load(t, config.Sources{Environ: []string{"MODEL=small"},
		Set: []string{"llm.provider=openai", "llm.base_url=http://127.0.0.1:11434/v1"}})
	require.True(t, l.Config.LLM.Enabled())
	require.Equal(t, "small", l.Config.LLM.Model.Model)
}

func TestAKeyIsNotSentInTheClearAcrossTheInternet(t *testing.T) {
	for address, allowed := range map[string]bool{
		"http://127.0.0.1:1/v1": true, "http://[::1]/v1": true, "http://10.1.2.3/v1": true, "http://localhost/v1": true, "http://gpu:8000/v1": true,
		"http://gpu.lan/v1": true, "https://models.example.org/v1": true,
		"http://models.example.org/v1": false, "http://8.8.8.8/v1": false, "http://localhost.example.org/v1": false,
	} {
		_, err := config.Load(config.Sources{Environ: []string{"KEY=k"}, Set: []string{"llm.provider=openai", "llm.model=m",
			"llm.api_key=env:KEY", "llm.base_url=" + address}})
		require.Equal(t, allowed, err == nil, "%s: %v", address, err)
	}
}

func TestFileThatIsMissing(t *testing.T) {
	_, err := config.Load(config.Sources{File: filepath.Join(t.TempDir(), "none.toml")})
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "postroomd config init")
}

var commentedOut = regexp.MustCompile(`(?m)^# ([a-z_]+ = )`)

// The sample changes nothing; what it shows as defaults are the defaults, all of them.
func TestSampleShowsTheDefaults(t *testing.T) {
	t.Setenv("HOME", "/home/ada")
	file := filepath.Join(t.TempDir(), "config.toml")
	require.NoError(t, os.WriteFile(file, config.Sample, 0o600))
	plain := load(t, config.Sources{})
	require.Equal(t, plain, load(t, config.Sources{File: file}))

	require.NoError(t, os.WriteFile(file, commentedOut.ReplaceAll(config.Sample, []byte("$1")), 0o600))
	all := load(t, config.Sources{File: file})
	require.Equal(t, plain.Config, all.Config)
	for _, v := range all.Values {
		require.NotEqual(t, "default", v.From, "%s is missing", v.Key)
	}
}

func TestDatabaseHidesItsPassword(t *testing.T) {
	for dsn, shown := range map[config.Database]string{
		"/var/lib/mail.db":                           "/var/lib/mail.db",
		"postgres://ada@db/mail":                     "postgres://ada@db/mail",
		"postgresql://ada:hunter2@db/mail":           "postgresql://ada:xxxxx@db/mail",
		"postgres://db/mail?user=a&PASSWORD=hunter2": "(secret)",
		"postgres://ada:hunter2%zz@db/mail":          "(secret)",
	} {
		require.Equal(t, shown, fmt.Sprint(dsn))
	}
}

func TestDatabaseIsNoListOfKeywords(t *testing.T) {
	for _, dsn := range []string{"host=db password=hunter2", "password=hunter2 dbname=mail", "user=ada"} {
		_, err := config.Load(config.Sources{Set: []string{"paths.database=" + dsn}})
		require.ErrorContains(t, err, "a URL that begins with postgres://")
	}
	_, err := config.Load(config.Sources{Set: []string{"paths.database=a=b/my host.db"}})
	require.NoError(t, err)
}

// Whatever stands in the file, it is read or refused with a place.
func FuzzLoad(f *testing.F) {
	names, err := filepath.Glob("testdata/*.toml")
	require.NoError(f, err)
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add(config.Sample)
	f.Add([]byte("\ufeff[app]\r\nport = 1\r\n"))
	f.Add([]byte(`"app.port" = 1`))
	f.Add([]byte("app = {port = 1, x = {y = 2}}\n[app.port]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file := filepath.Join(t.TempDir(), "config.toml")
		require.NoError(t, os.WriteFile(file, text, 0o600))
		l, err := config.Load(config.Sources{File: file})
		if err == nil {
			require.NotEmpty(t, l.Values)
			return
		}
		wrong := new(config.Error)
		require.ErrorAs(t, err, &wrong)
		for _, p := range wrong.Problems {
			require.Equal(t, file, p.File)
			require.Positive(t, p.Line, p.Message)
		}
	})
}

// A reminder is a draft, and comes where a conversation comes back.
func TestFollowUpByADraftNeedsDraftsAndDays(t *testing.T) {
	model := []string{"llm.provider=openai", "llm.model=small", "llm.api_key=env:KEY"}
	load := func(set ...string) (*config.Loaded, error) {
		return config.Load(config.Sources{Set: append(set, model...), Environ: []string{"KEY=sk-1"}})
	}
	l, err := load("replies.enabled=true")
	require.NoError(t, err)
	require.Equal(t, config.FollowUpInbox, l.Config.Replies.FollowUp)
	l, err = load("replies.enabled=true", "replies.follow_up=draft")
	require.NoError(t, err)
	require.Equal(t, config.FollowUpDraft, l.Config.Replies.FollowUp)
	for _, without := range [][]string{nil, {"replies.enabled=true", "replies.follow_up_days=0"}} {
		_, err = load(append(without, "replies.follow_up=draft")...)
		require.ErrorContains(t, err, `"draft" beside replies.enabled = true and replies.follow_up_days of 1 or more`)
	}
	_, err = load("replies.follow_up=label")
	require.ErrorContains(t, err, `"inbox" or "draft"`)
}
