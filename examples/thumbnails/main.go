// Thumbnails makes small pictures of all pictures in a folder, side by side, and then a contact sheet of them. It shows
// a flow: one node of as many jobs as there are pictures, and a job that runs when all of them have ended and reads
// their results.
//
//	go run ./examples/thumbnails -from ~/Pictures -to thumbnails
//
// A file that is no picture is left out of the sheet. With -strict there is no sheet then.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/draw"
	"io/fs"
	"log"
	"os"
	"path/filepath"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/flow"
	"github.com/postroom-go/postroom/queue/sqlite"
)

const side, columns = 96, 4 // of a thumbnail in pixels; of the sheet

// The types of job. The payloads and the results of Shrink are small: pictures are in files, and jobs name them.
const (
	Shrink queue.Type[Picture] = "picture.shrink"
	Sheet  queue.Type[string]  = "picture.sheet" // the file to write
)

// Picture is the payload of Shrink: a file, and the one to write.
type Picture struct{ From, To string }

// contactSheet enqueues the jobs of a folder.
func contactSheet(ctx context.Context, q *queue.Queue, from, to string, strict bool) (flowID string, err error) {
	entries, err := os.ReadDir(from)
	if err != nil {
		return "", err
	}
	f := flow.New("contact sheet", nil)
	f.AddMany("shrink", func(yield func(queue.NewJob) bool) {
		for _, e := range entries {
			if !yield(Shrink.New(Picture{filepath.Join(from, e.Name()), filepath.Join(to, e.Name()+".png")}, nil)) {
				return
			}
		}
	})
	after := flow.AfterEnd("shrink") // the sheet is made when all have ended, in whatever way
	if strict {
		after = flow.After("shrink") // the sheet is canceled if one fails
	}
	f.Add("sheet", Sheet.New(filepath.Join(to, "sheet.png"), nil), after)
	return flow.Enqueue(ctx, q, f)
}

func register(d *queue.Dispatcher) {
	queue.Handle(d, Shrink, func(_ context.Context, w *queue.Work[Picture]) error {
		picture, err := read(w.Payload.From)
		if errors.Is(err, image.ErrFormat) || errors.Is(err, fs.ErrNotExist) {
			return queue.Fatal(err) // no retry would mend it
		}
		if err != nil {
			return err
		}
		w.SetResult(w.Payload.To)
		return write(w.Payload.To, shrink(picture))
	})
	queue.Handle(d, Sheet, func(ctx context.Context, w *queue.Work[string]) error {
		ends, err := flow.CountsOf(ctx, w.Attempt, "shrink")
		if err != nil {
			return err
		}
		rows := (ends.Completed + columns - 1) / columns
		sheet := image.NewRGBA(image.Rect(0, 0, columns*side, rows*side))
		n := 0
		for file, err := range flow.Results[string](ctx, w.Attempt, "shrink") {
			if err != nil {
				return err
			}
			thumbnail, err := read(file)
			if err != nil {
				return err
			}
			at := image.Pt(n%columns*side, n/columns*side)
			draw.Draw(sheet, thumbnail.Bounds().Add(at), thumbnail, image.Point{}, draw.Src)
			n++
		}
		w.SetResult(fmt.Sprintf("%d pictures, %d left out", ends.Completed, ends.Failed+ends.Canceled))
		return write(w.Payload, sheet)
	})
}

func main() {
	from := flag.String("from", "docs/pictures", "the folder to read")
	to := flag.String("to", "thumbnails", "the folder to write")
	strict := flag.Bool("strict", false, "make no sheet if a picture cannot be read")
	flag.Parse()
	if err := run(context.Background(), *from, *to, *strict); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, from, to string, strict bool) (err error) {
	db, err := sqlite.Open(ctx, "thumbnails.db", nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := errors.Join(queue.Migrate(ctx, db), os.MkdirAll(to, 0o750)); err != nil {
		return err
	}
	q, err := queue.New(db, nil)
	if err != nil {
		return err
	}
	id, err := contactSheet(ctx, q, from, to, strict)
	if err != nil {
		return err
	}
	d, err := queue.NewDispatcher(q, nil)
	if err != nil {
		return err
	}
	register(d)
	if err := d.RunUntilIdle(ctx); err != nil {
		return err
	}
	nodes, err := flow.Nodes(ctx, q, id)
	for _, n := range nodes {
		fmt.Printf("%s: %s, %s\n", n.Name, n.State, n.Counts)
	}
	return err
}
