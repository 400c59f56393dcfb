package backtest

import "time"

// A Report is the result of trying rules on messages.
type Report struct {
	Messages   int `json:"messages"`
	Matched    int `json:"matched"`    // those that a rule matches
	Unreadable int `json:"unreadable"` // those that could not be read; they are not among Messages
	// Dangerous are the messages with an action that waits for a person, unless the rule's safe mode lets it pass.
	Dangerous int `json:"dangerous"`
	// First and Last are when the oldest and the newest of the messages were received; zero if none is known.
	First time.Time `json:"first,omitzero"`
	Last  time.Time `json:"last,omitzero"`

	// Compared reports whether there was a set to compare with. Then MatchedBefore are the messages that one of its
	// rules matches, Changed those about which the two decide differently, and Changes the differences, the most
	// frequent first.
	Compared      bool     `json:"compared"`
	MatchedBefore int      `json:"matched_before,omitempty"`
	Changed       int      `json:"changed,omitempty"`
	Changes       []Change `json:"changes,omitempty"`

	Rules   []Rule   `json:"rules"`   // in the order in which they are tried
	Actions []Action `json:"actions"` // the most frequent first
	Days    []Day    `json:"days"`    // those with messages, in UTC, the oldest first
	Broken  []Broken `json:"broken,omitempty"`

	Took time.Duration `json:"took_ns"`
}

// A Rule is the result of one of the tried rules.
type Rule struct {
	Name     string   `json:"name"`
	Priority int      `json:"priority"`
	Actions  []string `json:"actions"`
	Matched  int      `json:"matched"`
	Samples  []Sample `json:"samples,omitempty"` // the first that it matches
}

// A Action is how many messages an action would have been done to.
type Action struct {
	Action string `json:"action"` // with its parameters
	Count  int    `json:"count"`
	Before int    `json:"before,omitempty"` // by the set compared with
}

// A Day is the messages of a day.
type Day struct {
	Day      string `json:"day"` // as 2026-01-31
	Messages int    `json:"messages"`
	Matched  int    `json:"matched"`
}

// A Change is a difference between the two sets.
type Change struct {
	Before  []string `json:"before"` // the actions; empty if no rule matches
	After   []string `json:"after"`
	Count   int      `json:"count"`
	Samples []Sample `json:"samples,omitempty"`
}

// A Sample is one message, cut to the length of a line.
type Sample struct {
	ID       string    `json:"id,omitempty"` // ours
	Received time.Time `json:"received,omitzero"`
	From     string    `json:"from"`
	Subject  string    `json:"subject"`
	Rules    []string  `json:"rules,omitempty"` // that match, of a difference
}

// A Broken is a rule that cannot be evaluated, and why.
type Broken struct {
	Name  string `json:"name"`
	Error string `json:"error"`
}
