package environment

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/rules"
)

// A rules file is parsed again when it, or a file that it names, has changed; until then what was read is handed out,
// and nobody changes what others have got.
func TestRulesFilesAreParsedWhenTheyChange(t *testing.T) {
	dir := t.TempDir()
	file, senders := filepath.Join(dir, "rules.yaml"), filepath.Join(dir, "senders.txt")
	write := func(path, text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	const rule = "rules:\n  - {name: a, condition: {type: sender_email, values_from: senders.txt}, action: archive}\n"
	write(file, rule)
	write(senders, "ada@example.com\n")
	s := &Environment{Config: config.Default()}
	first, err := s.ReadRules(file)
	require.NoError(t, err)
	parsed := s.read.files[file]
	require.NotNil(t, parsed)
	first.Rules[0].AccountID, first.Rules[0].Condition = "mine", rules.Condition{}

	second, err := s.ReadRules(file)
	require.NoError(t, err)
	require.Same(t, parsed, s.read.files[file], "nothing has changed")
	require.Empty(t, second.Rules[0].AccountID)
	require.Equal(t, []string{"ada@example.com"}, second.Rules[0].Condition.Values)

	write(senders, "bob@example.com\n")
	third, err := s.ReadRules(file)
	require.NoError(t, err)
	require.Equal(t, []string{"bob@example.com"}, third.Rules[0].Condition.Values)

	write(file, "rules: [\n")
	_, err = s.ReadRules(file)
	require.Error(t, err)
	require.NoError(t, os.Remove(file))
	_, err = s.ReadRules(file)
	require.ErrorContains(t, err, file)
	write(file, rule)
	_, err = s.ReadRules(file)
	require.NoError(t, err)

	require.NoError(t, os.Remove(senders))
	_, err = s.ReadRules(file)
	require.ErrorContains(t, err, "senders.txt")
}
