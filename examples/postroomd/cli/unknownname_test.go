package cli

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/discord"
)

// TestAMistypedNameIsNoEmptyAnswer: what selects by a name that there is not says so, and which was meant.
func TestAMistypedNameIsNoEmptyAnswer(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "", letterNamed(1), letterNamed(2))
	runOnce(t, append(m.where, "--set", "paths.rules=")...)
	r := start(t, m.where...)
	r.ready()
	require.Equal(t, 0, m.postroomd("rules", "apply", "--yes", "--batch", "monday").status)
	stored, err := m.open().Rules.List(t.Context())
	require.NoError(t, err)
	rule := stored[0].ID
	for _, args := range [][]string{{"undo", "--dry-run"}, {"undo", "--report"}, {"undo"}, {"decisions", "list"}} {
		for says, flags := range map[string][]string{
			"--rule Tee: no rule has this name or id, nor had one that has decided something; did you mean Tea?": {"--rule", "Tee"},
			"--rule Coffee: no rule has this name or id, nor had one that has decided something; the rules are Tea": {
				"--rule", "Coffee", "--type", "archive"},
			"--batch mondya: no 'postroomd rules apply' or 'mail act' has done anything by this name; did you mean monday?": {"--batch", "mondya"},
			"--source modl: the sources are deterministic, llm, host, none":                                                 {"--source", "modl"},
		} {
			got := m.postroomd(slices.Concat(args, flags)...)
			require.Equal(t, exitUsage, got.status, got.stdout)
			require.Equal(t, "postroomd: "+says+"\n", got.stderr)
			require.Empty(t, got.stdout)
		}
	}
	m.rules("rules:\n  - {name: Cake, condition: {type: subject_regex, value: ^Cake}, action: star}\n")
	r.stop()
	runOnce(t, m.where...)
	for _, flags := range [][]string{{"--rule", "Cake"}, {"--rule", "Tea"}, {"--rule", rule}} {
		got := m.postroomd(append([]string{"undo", "--dry-run"}, flags...)...)
		require.Equal(t, 0, got.status, "a rule that has done nothing, and one that is no more: %s", got.stderr)
	}
}

// TestAMistypedTypeOfJobsIsSaid, and no type is refused that another program may have registered.
func TestAMistypedTypeOfJobsIsSaid(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	list := func(types string, flags ...string) result {
		t.Helper()
		r := postroomd(t, append([]string{"jobs", "list", "--data", dir, "--type", types}, flags...)...)
		require.Equal(t, 0, r.status, r.stderr)
		return r
	}
	require.Equal(t, result{0, "no jobs\n", "no job has the type clasify; did you mean classify?\n"}, list("clasify"))
	require.Equal(t, result{0, "[]\n", "no job has the type ingest.gmial; did you mean ingest.gmail?\n"},
		list("ingest.gmial", "--json"))
	require.Contains(t, list("nope").stderr, "no job has the type nope; those of postroomd are backfill.gmail, ")
	require.Equal(t, result{0, "no jobs\n", ""}, list("watch.gmail"))
	require.Empty(t, list("backfill.gmail,nope").stderr, "there are some")

	h, err := app.Open(t.Context(), environment.Demo(environment.Folder(dir)))
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close()) }()
	_, err = h.Queue.Enqueue(t.Context(), queue.Type[struct{}]("invoice.pay").New(struct{}{}, nil))
	require.NoError(t, err)
	require.Contains(t, list("invoice.pay").stdout, "invoice.pay")
	require.Equal(t, result{0, "no jobs\n", ""}, list("invoice.pay", "--state", "failed"), "another program has it")
}

// TestTheTypesOfJobsAreThoseOfTheHandlers keeps the list complete.
func TestTheTypesOfJobsAreThoseOfTheHandlers(t *testing.T) {
	m, _ := atDiscord(t, deleteTea, letterNamed(1))
	runOnce(t, m.where...)
	h := m.open()
	require.NoError(t, h.NewBot(t.Context()))
	d, err := h.NewDispatcher()
	require.NoError(t, err)
	handled := slices.Collect(maps.Keys(d.Handlers()))
	require.Contains(t, handled, string(discord.JobDigest))
	require.Subset(t, app.JobTypes, handled)
}
