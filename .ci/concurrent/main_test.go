package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConcurrent(t *testing.T) {
	for name, test := range map[string]struct {
		source string
		want   bool
	}{
		"a goroutine":           {"func f() { go f() }", true},
		"a goroutine in a loop": {"func f() { for range 3 { if true { go func() {}() } } }", true},
		"a mutex":               {`import "sync"; type t struct { mu sync.Mutex }`, true},
		"a wait group":          {`import s "sync"; func f() { var g s.WaitGroup; g.Go(f); g.Wait() }`, true},
		"an atomic":             {`import "sync/atomic"; var n atomic.Int64`, true},
		"an error group":        {`import "golang.org/x/sync/errgroup"; var g errgroup.Group`, true},
		"a timer's function":    {`import "time"; func f() { time.AfterFunc(time.Second, f) }`, true},
		"a context's function":  {`import "context"; func f() { context.AfterFunc(context.TODO(), f) }`, true},
		"nothing":               {`import "time"; func f() { time.Sleep(time.Second) } // go f(), sync`, false},
		"another sync":          {`import "example.com/sync"; func f() { sync.Folder() }`, false},
	} {
		t.Run(name, func(t *testing.T) {
			file, err := parser.ParseFile(token.NewFileSet(), "", "package p; "+test.source, parser.SkipObjectResolution)
			require.NoError(t, err)
			require.Equal(t, test.want, concurrent(file))
		})
	}
}

// words are in the source of concurrent packages, and in no other but in comments.
var words = regexp.MustCompile(`(?m)^\s*go [\w.]+\(|"sync"|"sync/atomic"|\bsync\.[A-Z]|\batomic\.[A-Z]|errgroup|\.AfterFunc\(`)

var comments = regexp.MustCompile(`(?m)^\s*//.*$|\s// .*$`)

// The packages of this module are told apart by their syntax, and here once more by their text.
func TestNoConcurrentPackageIsLeftOut(t *testing.T) {
	const module = "github.com/postroom-go/postroom/"
	packages, err := list(module + "...")
	require.NoError(t, err)
	var needed, others []string
	for _, p := range packages {
		needs, err := p.needsDetector()
		require.NoError(t, err)
		name := strings.TrimPrefix(p.ImportPath, module)
		if needs {
			needed = append(needed, name)
			continue
		}
		others = append(others, name)
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			continue
		}
		for _, file := range slices.Concat(p.GoFiles, p.CgoFiles) {
			text, err := os.ReadFile(filepath.Join(p.Dir, file))
			require.NoError(t, err)
			require.Empty(t, words.FindString(comments.ReplaceAllString(string(text), "")), "%s/%s", name, file)
		}
	}
	// What runs the others together, and what they run on.
	require.Subset(t, needed, []string{"queue", "queue/sqlite", "queue/postgres", "gmail", "gmail/gmailapi",
		"gmail/pipeline", "rules", "safety", "internal/chaos", "examples/postroomd/app", "examples/postroomd/web"})
	require.Subset(t, others, []string{"mime/authres", "examples/postroomd/view"})
}
