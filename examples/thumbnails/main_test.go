package main

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/flow"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// The colours of the pictures in a folder.
var colours = []color.RGBA{{R: 255, A: 255}, {G: 255, A: 255}, {B: 255, A: 255}, {R: 255, G: 255, A: 255}, {A: 255}}

func pictures(t *testing.T) (from, to string) {
	t.Helper()
	from, to = t.TempDir(), t.TempDir()
	for i, c := range colours {
		picture := image.NewRGBA(image.Rect(0, 0, 300+i, 200))
		draw.Draw(picture, picture.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
		require.NoError(t, write(filepath.Join(from, fmt.Sprintf("%d.png", i)), picture))
	}
	return from, to
}

func states(t *testing.T, q *queue.Queue, id string) map[string]flow.State {
	t.Helper()
	nodes, err := flow.Nodes(t.Context(), q, id)
	require.NoError(t, err)
	states := make(map[string]flow.State, len(nodes))
	for _, n := range nodes {
		states[n.Name] = n.State
	}
	return states
}

func TestASheetOfWhatCanBeRead(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		require.NoError(t, queue.Migrate(t.Context(), db))
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		from, to := pictures(t)
		require.NoError(t, os.WriteFile(filepath.Join(from, "2-notes.txt"), []byte("no picture"), 0o600))
		id, err := contactSheet(t.Context(), q, from, to, false)
		require.NoError(t, err)
		queuetest.Work(t, q, register)

		require.Equal(t, map[string]flow.State{"shrink": flow.Failed, "sheet": flow.Completed}, states(t, q, id))
		for job, err := range flow.Jobs(t.Context(), q, id, "sheet") {
			require.NoError(t, err)
			require.JSONEq(t, `"5 pictures, 1 left out"`, string(job.Result))
		}
		sheet, err := read(filepath.Join(to, "sheet.png"))
		require.NoError(t, err)
		require.Equal(t, image.Rect(0, 0, columns*side, 2*side), sheet.Bounds())
		for i, c := range colours {
			at := image.Pt(i%columns*side+side/2, i/columns*side+side/2)
			require.Equal(t, c, color.RGBAModel.Convert(sheet.At(at.X, at.Y)), "picture %d has its place", i)
		}
	})
}

func TestNoSheetWithStrict(t *testing.T) {
	q := queuetest.New(t)
	from, to := pictures(t)
	broken := filepath.Join(from, "broken.png")
	require.NoError(t, os.WriteFile(broken, []byte("no picture"), 0o600))
	id, err := contactSheet(t.Context(), q, from, to, true)
	require.NoError(t, err)
	queuetest.Work(t, q, register)
	require.Equal(t, map[string]flow.State{"shrink": flow.Failed, "sheet": flow.Canceled}, states(t, q, id))
	require.NoFileExists(t, filepath.Join(to, "sheet.png"))

	// The picture is mended. What has failed runs again, and the sheet after it.
	require.NoError(t, write(broken, image.NewRGBA(image.Rect(0, 0, 10, 10))))
	require.NoError(t, flow.Retry(t.Context(), q, id))
	queuetest.Work(t, q, register)
	require.Equal(t, map[string]flow.State{"shrink": flow.Completed, "sheet": flow.Completed}, states(t, q, id))
	require.FileExists(t, filepath.Join(to, "sheet.png"))
}

func TestTheProgram(t *testing.T) {
	from, to := pictures(t)
	t.Chdir(t.TempDir())
	require.NoError(t, run(t.Context(), from, filepath.Join(to, "new"), false))
	require.FileExists(t, filepath.Join(to, "new", "sheet.png"))
}
