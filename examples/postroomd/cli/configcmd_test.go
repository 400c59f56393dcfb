package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConfigCommands(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "conf"))
	file := filepath.Join(home, "conf", "postroom", "config.toml")

	r := postroomd(t, "config", "check")
	require.Equal(t, 0, r.status, r.stderr)
	r = postroomd(t, "config", "init")
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, file)
	r = postroomd(t, "config", "init")
	require.Equal(t, exitUsage, r.status, "it does not overwrite")

	require.NoError(t, os.WriteFile(file, []byte("[app]\nport = 1\n[gmail]\ntoken = \"hunter2\"\n"), 0o600))
	r = postroomd(t, "config", "show", "--set", "app.workers=2", "--json")
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stderr, "warning: "+file+":4:1: the secret stands in the file")
	require.NotContains(t, r.stdout, "hunter2")
	var values []struct{ Key, Value, From string }
	require.NoError(t, json.Unmarshal([]byte(r.stdout), &values))
	shown := map[string]string{}
	for _, v := range values {
		shown[v.Key] = v.Value + " " + v.From
	}
	require.Equal(t, "1 "+file+":2", shown["app.port"])
	require.Equal(t, "2 --set app.workers", shown["app.workers"])
	require.Equal(t, `"(secret)" `+file+":4", shown["gmail.token"])
	require.Contains(t, postroomd(t, "config", "show").stdout, "port = 1")

	other := filepath.Join(home, "other.toml")
	require.NoError(t, os.WriteFile(other, []byte("[app]\nprot = 1\n"), 0o600))
	t.Setenv("POSTROOMD_CONFIG", other)
	for _, args := range [][]string{{"config", "check"}, {"config", "check", "--config", other}, {"config", "show"}} {
		r = postroomd(t, args...)
		require.Equal(t, exitUsage, r.status)
		require.Contains(t, r.stderr, other+":2:1: unknown key \"prot\" in [app]; did you mean port?")
	}
}

// What is checked is what a run checks at its start.
func TestConfigCheckSaysWhatARunWouldRefuse(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, "conf"))
	check := func(settings ...string) result {
		args := []string{"config", "check"}
		for _, s := range settings {
			args = append(args, "--set", s)
		}
		return postroomd(t, args...)
	}
	r := check()
	require.Equal(t, 0, r.status, r.stderr)
	require.Contains(t, r.stdout, "nothing to work on")
	require.Contains(t, r.stdout, "gmail.client_id")

	access := []string{"gmail.address=ada@example.org", "gmail.token=" + secret(t, "t"),
		"gmail.endpoint=http://127.0.0.1:1"}
	r = check(access...)
	require.Equal(t, 0, r.status, r.stderr)
	require.Equal(t, "no faults\n", r.stdout)

	for fault, says := range map[string]string{
		"paths.rules=none.yaml":           "none.yaml",
		"gmail.topic=projects/p/topics/t": "gmail.use_pubsub",
		"gmail.address=":                  "gmail.address is not set",
	} {
		r = check(append(access, fault)...)
		require.Equal(t, exitUsage, r.status, fault)
		require.Contains(t, r.stderr, says)
		require.Empty(t, r.stdout)
	}
}

// Grants that run could not open are a fault, and nothing is made to find that out.
func TestConfigCheckOpensTheGrants(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "none")) // a machine without a keychain
	t.Setenv("POSTROOM_PASSPHRASE", "correct horse")
	data := filepath.Join(t.TempDir(), "data")
	check := func(settings ...string) result {
		args := []string{"config", "check", "--set", "gmail.client_id=me", "--set", "paths.data=" + data}
		for _, s := range settings {
			args = append(args, "--set", s)
		}
		r := postroomd(t, args...)
		require.NoDirExists(t, data)
		return r
	}
	const unset = "gmail.passphrase is not set"
	for says, settings := range map[string][]string{
		"":                                     {"gmail.tokens=file", "gmail.passphrase=env:POSTROOM_PASSPHRASE"},
		"are in encrypted files, and " + unset: {"gmail.tokens=file"},
		unset + "; name the variable":          {},
		`or set gmail.tokens to "file" and gmail.passphrase, to keep the grants in en`: {"gmail.tokens=keychain"},
	} {
		r := check(settings...)
		if says == "" {
			require.Equal(t, result{0, "no faults\n", ""}, r)
			continue
		}
		require.Equal(t, exitUsage, r.status, settings)
		require.Contains(t, r.stderr, says)
		require.Empty(t, r.stdout)
	}
}
