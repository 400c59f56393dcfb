package view

import (
	"time"
)

// A Stop reports whether everything is stopped, by whom and since when. A stop by the stop file has no name and no time.
type Stop struct {
	Stopped  bool       `json:"stopped"`
	By       string     `json:"by,omitempty"`
	At       *time.Time `json:"at,omitempty"`
	Why      string     `json:"why,omitempty"`
	Undos    bool       `json:"allow_undo,omitempty"`
	Breakers string     `json:"breakers,omitempty"` // which rules or models are stopped for what they did
}
