package view

// Applied is what 'rules apply' has done.
type Applied struct {
	Batch        string         `json:"batch"`
	DryRun       bool           `json:"dry_run"`
	Finished     bool           `json:"finished"`
	Messages     int            `json:"messages"`
	Matched      int            `json:"matched"`
	Actions      map[string]int `json:"actions"`
	Irreversible []string       `json:"irreversible"` // of the actions, those that cannot be undone
	Rules        map[string]int `json:"rules"`
	AlreadySo    int            `json:"already_so"`
	LeftAlone    int            `json:"left_alone"` // a person has changed it by hand, or undone it
	Refused      int            `json:"refused"`
	Waiting      int            `json:"waiting"`
	// rules or models that breakers have stopped: their decisions wait
	Stopped string `json:"stopped,omitempty"`
}
