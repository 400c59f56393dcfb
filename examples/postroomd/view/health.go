package view

// A Health is the response of /healthz and /readyz.
type Health struct {
	Status   string `json:"status"` // healthy or unhealthy; of /readyz ready or not ready
	Version  string `json:"version"`
	Database string `json:"database"`           // ok, or what is wrong
	Accounts string `json:"accounts,omitempty"` // of /readyz: ok, or why they are not set up
	Access   string `json:"access,omitempty"`   // of /readyz: the mailboxes that this machine has no access to; another may have
	Stopped  string `json:"stopped,omitempty"`  // who has stopped everything, when and why; that is no fault of health
}
