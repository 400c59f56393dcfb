package rules_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// supported is what the host of these tests can execute.
var supported = rules.Supporting(postroom.Archive, postroom.ApplyLabel, postroom.Move, postroom.Star, postroom.Delete)

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestFaultyFilesSayWhatIsWrongAndWhere(t *testing.T) {
	paths, err := filepath.Glob("testdata/invalid/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			file, err := os.Open(path)
			require.NoError(t, err)
			defer file.Close()

			parsed, err := rules.Parse(filepath.Base(path), file, supported)
			require.Nil(t, parsed)
			var faulty *rules.FileError
			require.ErrorAs(t, err, &faulty)
			require.NotEmpty(t, faulty.Problems)
			for i := range faulty.Problems[1:] {
				require.LessOrEqual(t, faulty.Problems[i].Line, faulty.Problems[i+1].Line)
			}
			golden(t, strings.TrimSuffix(path, ".yaml")+".golden", err.Error()+"\n")
		})
	}
}
