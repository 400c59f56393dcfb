package bodytext_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/bodytext"
	"github.com/postroom-go/postroom/mime/htmltext"
)

func TestAReaderKeepsTheLastReading(t *testing.T) {
	var n atomic.Int64
	ctx := bodytext.With(bodytext.Counting(t.Context(), &n))
	require.Equal(t, ctx, bodytext.With(ctx), "one job has one Reader")
	msg := &postroom.Message{BodyPlain: "Tea?", BodyHTML: "<p>Tea at five?"}
	read := bodytext.From(ctx).Body(msg)
	require.Equal(t, htmltext.ReadBody(msg.BodyPlain, msg.BodyHTML), *read)
	copied := *msg
	require.Same(t, read, bodytext.From(ctx).Body(&copied))
	require.Equal(t, "Tea at five?", bodytext.From(ctx).HTMLText(msg))
	require.EqualValues(t, 1, n.Load())
}

func TestAChangedMessageIsReadAnew(t *testing.T) {
	r := bodytext.From(bodytext.With(t.Context()))
	msg := &postroom.Message{BodyPlain: "Tea?", BodyHTML: "<p>Tea at five?"}
	r.Body(msg)
	for change, want := range map[string]func(){
		"Tea at six?":  func() { msg.BodyHTML = "<p>Tea at six?" },
		"Coffee?":      func() { msg.BodyHTML, msg.BodyPlain = "", "Coffee?" },
		"Only a plan.": func() { *msg = postroom.Message{BodyHTML: "Only a plan."} },
	} {
		want()
		require.Equal(t, change, r.Body(msg).Text)
		require.Equal(t, htmltext.Text(msg.BodyHTML), r.HTMLText(msg))
	}
}

func TestWithoutAContextEachReads(t *testing.T) {
	msg := &postroom.Message{BodyHTML: "<p>Tea?"}
	r := bodytext.From(t.Context())
	require.Nil(t, r)
	require.Equal(t, "Tea?", r.Body(msg).Text)
	require.Equal(t, "Tea?", r.HTMLText(msg))
	require.Empty(t, r.HTMLText(&postroom.Message{BodyPlain: "x"}))
}

func TestHTMLThatShowsNothingHasNoText(t *testing.T) {
	r := bodytext.From(bodytext.With(t.Context()))
	msg := &postroom.Message{BodyPlain: "Tea?", BodyHTML: "<p hidden>Coffee?"}
	require.Equal(t, "Tea?", r.Body(msg).Text)
	require.Empty(t, r.HTMLText(msg))
}

func TestAReaderIsSharedByGoroutines(t *testing.T) {
	r := bodytext.From(bodytext.With(t.Context()))
	var wg sync.WaitGroup
	for i := range 8 {
		msg := &postroom.Message{BodyPlain: strings.Repeat("x", 1+i%2)}
		wg.Go(func() {
			for range 100 {
				if r.Body(msg).Text != msg.BodyPlain {
					t.Error("the reading is that of another message")
				}
			}
		})
	}
	wg.Wait()
}

// TestWhatDecidesSharesTheReading: what looks at a message in a job reads its body by this package only.
func TestWhatDecidesSharesTheReading(t *testing.T) {
	reads := regexp.MustCompile(`htmltext\.(ReadBody|Read|Text)\(`)
	files := 0
	for _, folder := range []string{"rules", "llm", "safety", "gmail/mailstore"} {
		root := filepath.Join("../..", folder)
		require.NoError(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			files++
			require.NotRegexp(t, reads, string(source), path)
			return err
		}))
	}
	require.Greater(t, files, 100)
}
