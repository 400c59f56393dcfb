package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

const (
	// rulesSettle is how long the watch waits after a change: programs write a file in several steps.
	rulesSettle = 100 * time.Millisecond
	// rulesAgain is how often the files are read without a sign of a change: the system reports none of other machines'
	// changes, nor of files that values_from names.
	rulesAgain = time.Minute
)

// A rulesWatch reads the rules files again when they change, and stores what is right. Of a faulty file the rules that
// were read before stay in force.
type rulesWatch struct {
	app     *App
	watcher *fsnotify.Watcher          // nil: the files are only read again and again
	files   map[string]*rulesfile.File // what is in force, by path
	names   map[string]bool            // the files of the watched folders that count
	mu      sync.Mutex                 // guards faults
	faults  map[string]error           // why files cannot be used, by path
}

// newRulesWatch begins to watch before the accounts are set up, which read the files after that.
func (h *App) newRulesWatch(ctx context.Context) *rulesWatch {
	w := &rulesWatch{app: h, files: map[string]*rulesfile.File{}, names: map[string]bool{}, faults: map[string]error{}}
	if h.demo != nil || len(h.Env.RulesPaths()) == 0 {
		return w
	}
	if err := w.watch(h.Env.RulesPaths()); err != nil {
		h.Log.WarnContext(ctx, "changes of the rules files are not reported here; they are read again and again", "every",
			rulesAgain, "error", err)
	}
	for _, path := range h.Env.RulesPaths() {
		file, err := h.Env.ReadRules(path)
		if err != nil {
			w.fails(ctx, path, err)
		}
		w.files[path] = file
	}
	return w
}

func (w *rulesWatch) watch(paths []string) (err error) {
	if w.watcher, err = fsnotify.NewWatcher(); err != nil {
		return err
	}
	var errs []error
	for _, path := range paths {
		places := []string{path}
		if target, err := filepath.EvalSymlinks(path); err == nil {
			places = append(places, target)
		}
		for _, place := range places { // the folder, since editors replace the file
			w.names[filepath.Base(place)] = true
			errs = append(errs, w.watcher.Add(filepath.Dir(place)))
		}
	}
	return errors.Join(errs...)
}

// run watches until ctx is done.
func (w *rulesWatch) run(ctx context.Context) {
	if len(w.files) == 0 {
		return
	}
	var events <-chan fsnotify.Event
	var missed <-chan error
	if w.watcher != nil {
		defer func() { _ = w.watcher.Close() }() // there is nothing to be done about it
		events, missed = w.watcher.Events, w.watcher.Errors
	}
	settled := time.NewTimer(rulesSettle)
	defer settled.Stop()
	again := time.NewTicker(rulesAgain)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-events:
			if w.names[filepath.Base(e.Name)] {
				settled.Reset(rulesSettle)
			}
		case <-missed: //nolint:errcheck // whichever it is, something was missed
			settled.Reset(rulesSettle)
		case <-settled.C:
			w.look(ctx)
		case <-again.C:
			w.look(ctx)
		}
	}
}

// look reads the files, and stores those that have changed.
func (w *rulesWatch) look(ctx context.Context) {
	for _, path := range slices.Sorted(maps.Keys(w.files)) {
		file, err := w.app.Env.ReadRules(path)
		if err == nil && !sameRules(w.files[path], file) {
			err = w.take(ctx, path, file)
		}
		if ctx.Err() != nil {
			return
		}
		w.fails(ctx, path, err)
	}
}

func sameRules(a, b *rulesfile.File) bool {
	return a != nil && a.Source == b.Source && reflect.DeepEqual(a.Rules, b.Rules)
}

// take stores the rules of a file in the active mailboxes that read it. The others get them when they are active again,
// which sets them up anew.
func (w *rulesWatch) take(ctx context.Context, path string, file *rulesfile.File) error {
	accounts, err := w.app.Mail.Accounts(ctx)
	if err != nil {
		return err
	}
	var errs []error
	var later []string
	for _, a := range accounts {
		switch {
		case w.app.Env.RulesPath(a.Email) != path:
		case a.State != mailstore.AccountActive:
			later = append(later, a.Email)
		default:
			if err := w.app.ReloadRules(ctx, a.ID); err != nil {
				errs = append(errs, fmt.Errorf("they are not stored for %s: %w", a.Email, err))
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	before := w.files[path]
	w.files[path] = file
	said := "the rules file has changed, and its rules are in force"
	if len(later) > 0 {
		said += ", but not in mailboxes that are not active, which take them when they are: " + strings.Join(later, ", ")
	}
	w.app.Log.InfoContext(ctx, said, "file", path, "rules", len(file.Rules), "changes", describeChanges(before, file))
	for _, warning := range file.Warnings {
		w.app.Log.WarnContext(ctx, "a rule is probably a mistake", "file", path, "warning", warning.String())
	}
	return nil
}

// maxChangesNamed is how many changed rules a line of the log names.
const maxChangesNamed = 20

func describeChanges(before, after *rulesfile.File) string {
	if before == nil {
		return "all"
	}
	changes := rulesfile.Differences(before.Rules, after.Rules)
	if len(changes) == 0 {
		return "none of a rule"
	}
	var texts []string
	for i := range changes[:min(len(changes), maxChangesNamed)] {
		texts = append(texts, fmt.Sprintf("%q %s", changes[i].Name, changes[i].Kind()))
	}
	if more := len(changes) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, ", ")
}

// fails keeps why a file cannot be used, and logs it once; nil if it can.
func (w *rulesWatch) fails(ctx context.Context, path string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.faults[path]
	if err == nil {
		delete(w.faults, path)
		return
	}
	w.faults[path] = err
	if before == nil || before.Error() != err.Error() {
		w.app.Log.ErrorContext(ctx, "the rules file cannot be used, and the rules that were read before stay in force",
			"file", path, "error", err)
	}
}

// RulesFaults says of the rules files that cannot be used why, one in each line; empty if all can. The rules that were
// read before are in force.
func (h *App) RulesFaults() string {
	w := h.rulesWatch.Load()
	if w == nil {
		return ""
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []string
	for _, path := range slices.Sorted(maps.Keys(w.faults)) {
		lines = append(lines, fmt.Sprintf("%s cannot be used, and the rules that were read before stay in force: %v", path,
			w.faults[path]))
	}
	return strings.Join(lines, "\n")
}
