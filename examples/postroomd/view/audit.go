package view

import (
	"fmt"

	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/safety"
	"github.com/spf13/cobra"
)

// An auditView is what verify prints as JSON.
type Audit struct {
	Entries  int64               `json:"entries"`
	Rows     int64               `json:"rows"`
	Before   int64               `json:"rows_from_before"`
	OtherKey int64               `json:"signed_with_another_key"`
	Heads    []string            `json:"heads"`
	Faults   []safety.AuditFault `json:"faults"`
}

func NewAudit(a *safety.Audit) Audit {
	view := Audit{a.Entries, a.Rows, a.Before, a.OtherKey, []string{}, a.Faults}
	for _, head := range a.Heads {
		view.Heads = append(view.Heads, head.String())
	}
	if view.Faults == nil {
		view.Faults = []safety.AuditFault{}
	}
	return view
}

func PrintAudit(cmd *cobra.Command, a *safety.Audit) error {
	f := printer.NewFields(cmd.OutOrStdout())
	f.Add("entries", a.Entries)
	f.Add("rows", a.Rows)
	if a.Before > 0 {
		f.Add("rows from before", fmt.Sprintf("%d, about which the log says nothing", a.Before))
	}
	if a.OtherKey > 0 {
		f.Add("not checked", fmt.Sprintf("%d, which are signed with another key", a.OtherKey))
	}
	for _, head := range a.Heads {
		f.Add("head", head)
	}
	for _, fault := range a.Faults {
		f.Add("fault", fmt.Sprintf("%s %s: %s", fault.Kind, fault.Subject, fault.What))
	}
	if len(a.Faults) == 0 {
		f.Add("faults", "none")
	}
	return f.Flush()
}
