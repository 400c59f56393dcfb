package drafting_test

import (
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/postroom-go/postroom/gmail/internal/worldtest"
)

// A lateEdits knows the drafts that a person has edited after the program read them, and before Gmail deleted them.
// Gmail deletes without a condition: nothing can be done about these, and everything about all others.
type lateEdits struct {
	mu   sync.Mutex // held while Gmail deletes a draft, and while a person edits one
	read map[string]bool
	lost map[string]bool
}

func deletesDraft(r *http.Request) bool {
	return r.Method == http.MethodDelete && strings.Contains(r.URL.Path, "/drafts/")
}

// watch has the requests of a program go by it.
func (e *lateEdits) watch(w *world) {
	var reading sync.Mutex // of read
	w.through(&worldtest.Wire{
		Before: func(r *http.Request) {
			if !deletesDraft(r) {
				return
			}
			e.mu.Lock()
			id := path.Base(r.URL.Path)
			now, err := w.google.Users.Drafts.Get("me", id).Format("minimal").Do()
			if err != nil { // a fault that was for a call of the program; it comes once
				now, err = w.google.Users.Drafts.Get("me", id).Format("minimal").Do()
			}
			reading.Lock()
			defer reading.Unlock()
			if err == nil && !e.read[now.Message.Id] {
				e.lost[id] = true
			}
		},
		After: func(r *http.Request, answer *http.Response) {
			switch {
			case deletesDraft(r):
				e.mu.Unlock()
			case r.URL.Query().Get("format") == "raw" && answer.StatusCode == http.StatusOK:
				reading.Lock()
				defer reading.Unlock()
				e.read[path.Base(r.URL.Path)] = true
			}
		},
		Failed: func(r *http.Request, _ error) {
			if deletesDraft(r) {
				e.mu.Unlock()
			}
		},
	})
}
