package cli

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// walk calls fn with every command that a person can give.
func walk(cmd *cobra.Command, fn func(*cobra.Command)) {
	for _, below := range cmd.Commands() {
		walk(below, fn)
	}
	if !cmd.HasSubCommands() {
		fn(cmd)
	}
}

func TestEveryCommandNamesItsArguments(t *testing.T) {
	root := rootCommand(nil)
	seen := 0
	walk(root, func(cmd *cobra.Command) {
		words := strings.Fields(cmd.CommandPath())[1:]
		required, optional := argumentsOf(cmd)
		for i, name := range required {
			where := found(cmd, name)
			require.NotEmpty(t, where, "whereFound has nothing of %s of %s", name, cmd.CommandPath())
			r := postroomd(t, append(append([]string{}, words...), make([]string, i)...)...)
			require.Equal(t, exitUsage, r.status)
			if i == 0 {
				require.Equal(t, "postroomd: "+typedAs(cmd)+" needs "+name+": "+where+"\n", r.stderr)
				r = postroomd(t, append(words, " ")...)
				require.Equal(t, "postroomd: "+typedAs(cmd)+" needs "+name+", which is empty: "+where+"\n", r.stderr)
			}
			seen++
		}
		if cmd.Args == nil || cmd.Args(cmd, make([]string, 50)) == nil {
			return
		}
		given := words
		for i := range len(required) + len(optional) + 1 {
			given = append(given, "x"+strconv.Itoa(i))
		}
		if cmd.Args(cmd, given[len(words):]) == nil {
			return // takes any number
		}
		r := postroomd(t, given...)
		require.Equal(t, exitUsage, r.status)
		require.Contains(t, r.stderr, "postroomd: "+typedAs(cmd)+" takes ")
		require.Contains(t, r.stderr, given[len(given)-1]+`" is too many`)
	})
	require.Greater(t, seen, 20)
}

func TestListingsHaveOneBound(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	demoJSON(t, "--data", dir)
	listings := 0
	walk(rootCommand(nil), func(cmd *cobra.Command) {
		flag := cmd.Flags().Lookup("limit")
		if flag == nil {
			return
		}
		listings++
		words := strings.Fields(cmd.CommandPath())[1:]
		most := 100
		if words[0] == "mail" {
			most = 500
		}
		require.Equal(t, fmt.Sprintf("how many, 1 to %d", most), flag.Usage, cmd.CommandPath())
		if cmd.Name() == "search" {
			words = append(words, "tea")
		}
		words = append(words, "--data", dir, "--limit")
		r := postroomd(t, append(words, strconv.Itoa(most))...)
		require.Equal(t, 0, r.status, "%s: %s", cmd.CommandPath(), r.stderr)
		for _, wrong := range []string{strconv.Itoa(most + 1), "0", "-1", "x", "1.5", "99999999999999999999"} {
			r := postroomd(t, append(words, wrong)...)
			require.Equal(t, exitUsage, r.status)
			require.Equal(t, fmt.Sprintf("postroomd: --limit is %s; it must be a whole number within 1 and %d\n", wrong, most),
				r.stderr, cmd.CommandPath())
		}
	})
	require.Equal(t, 15, listings)
}

func TestAMistypedFlagIsNamed(t *testing.T) {
	for says, args := range map[string][]string{
		"unknown flag: --onec; did you mean --once?":                                                                 {"run", "--onec"},
		"unknown flag: --limt; did you mean --limit?":                                                                {"mail", "search", "tea", "--limt=7"},
		"unknown shorthand flag: 'j' in -json; did you mean --json?":                                                 {"actions", "-json"},
		"unknown flag: --florp; see postroomd rules check --help":                                                    {"rules", "check", "--florp"},
		"unknown flag: --florp; see postroomd --help":                                                                {"--florp"},
		"put -- before a search that begins with a dash, as in postroomd mail search -- -in:inbox":                   {"mail", "search", "-in:inbox"},
		"--json is maybe; write true or false, or the flag alone":                                                    {"actions", "--json=maybe"},
		"--below is much; it must be a number, such as 0.5":                                                          {"decisions", "list", "--below", "much"},
		"unknown flag: --all; did you mean --all-of?":                                                                {"approvals", "approve", "--all"},
		"--since yesterday: write a whole number from 1 and a unit m, h, d or w, as 24h or 7d, of at most ten years": {"actions", "--since", "yesterday"},
		"--state done: the states are queued, executing, completed, failed, canceled, rejected, pending_approval":    {"actions", "--state", "done"},
		"--until soon: write a whole number from 1 and a unit m, h, d or w, as 24h or 7d, of at most ten years":      {"decisions", "list", "--until", "soon"},
		"--type archiv: did you mean archive?":                                                                       {"actions", "--type", "archiv"},
		"--source rule: the sources are deterministic, llm, host, none":                                              {"decisions", "list", "--source", "rule"},
		"--limit needs a value: how many, 1 to 100":                                                                  {"actions", "--limit"},
		"--limit is empty; it must be a whole number within 1 and 100":                                               {"actions", "--limit="},
		`unknown command "acounts" for "postroomd"; did you mean accounts?; see postroomd --help`:                    {"acounts", "--florp"},
		"accounts list takes no arguments, and \"x\" is too many; put a text with blanks in quotes":                  {"accounts", "list", "x"},
		"demo takes no arguments, and \"mail.mbox\" is too many; put a text with blanks in quotes":                   {"demo", "mail.mbox"},
		"rules diff takes A B alone, and \"3\" is too many; put a text with blanks in quotes":                        {"rules", "diff", "1", "2", "3"},
	} {
		r := postroomd(t, args...)
		require.Equal(t, exitUsage, r.status, args)
		require.Equal(t, "postroomd: ", r.stderr[:len("postroomd: ")])
		require.Contains(t, r.stderr, says+"\n")
		require.Empty(t, r.stdout)
	}
}
