package sqlite

import (
	"context"
	"time"
)

// A watch tells of what other processes commit. It belongs to the writer, on whose connection SQLite's data_version
// changes with every commit but its own: to look is one read of memory that the processes share.
type watch struct {
	interval time.Duration // 0: never
	changed  func()

	ticker  *time.Ticker
	version int64
}

func (w *watch) turn(on bool) {
	w.stop()
	if on && w.interval > 0 {
		w.ticker = time.NewTicker(w.interval)
	}
}

func (w *watch) stop() {
	if w.ticker != nil {
		w.ticker.Stop()
		w.ticker = nil
	}
}

func (w *watch) ticks() <-chan time.Time {
	if w.ticker == nil {
		return nil
	}
	return w.ticker.C
}

func (w *watch) look(s *statements) {
	var version int64
	// An error shows at the next write; polling is the net.
	if s.QueryRowxContext(context.Background(), "PRAGMA data_version").Scan(&version) != nil || version == w.version {
		return
	}
	w.version = version
	w.changed()
}
