package view

// A Health is the response of /healthz and /readyz.
type Health struct {
	// Status is healthy, unhealthy or degraded: the program is sound, and a mailbox needs a person. Of /readyz it is ready
	// or not ready.
	Status   string `json:"status"`
	Version  string `json:"version"`
	Database string `json:"database"`           // ok, or what is wrong
	Accounts string `json:"accounts,omitempty"` // of /readyz: ok, or why they are not set up; of /healthz: lost grants
	// of /readyz: the mailboxes that this machine has no access to; another may have
	Access string `json:"access,omitempty"`
	// of /readyz: why rules files cannot be used; the rules that were read before are in force
	Rules   string `json:"rules,omitempty"`
	Stopped string `json:"stopped,omitempty"` // who has stopped everything, when and why; that is no fault of health
}
