package view

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/safety/audit"
)

// An Audit is what verify prints as JSON.
type Audit struct {
	Entries int64         `json:"entries"`
	Rows    int64         `json:"rows"`
	Heads   []string      `json:"heads"`
	Faults  []audit.Fault `json:"faults"`
}

// NewAudit returns the view of a report.
func NewAudit(r *audit.Report) Audit {
	view := Audit{r.Entries, r.Rows, Heads(r.Head), r.Faults}
	if view.Faults == nil {
		view.Faults = []audit.Fault{}
	}
	return view
}

// Heads has the end of the log; it is empty if the log is.
func Heads(end audit.Head) []string {
	if end.Entries == 0 {
		return []string{}
	}
	return []string{end.String()}
}

// PrintAudit prints a report for people.
func PrintAudit(cmd *cobra.Command, r *audit.Report) error {
	f := printer.NewFields(cmd.OutOrStdout())
	f.Add("entries", r.Entries)
	f.Add("rows", r.Rows)
	for _, head := range Heads(r.Head) {
		f.Add("head", head)
	}
	for _, fault := range r.Faults {
		f.Add("fault", fmt.Sprintf("%s %s: %s", fault.Kind, fault.Subject, fault.What))
	}
	if len(r.Faults) == 0 {
		f.Add("faults", "none")
	}
	return f.Flush()
}

// ExportAudit writes the log, an entry a line as JSON, and at last the end of it.
func ExportAudit(ctx context.Context, h *app.App, w io.Writer) error {
	out := json.NewEncoder(w)
	end, err := h.Audit.Each(ctx, func(e *audit.Entry) error { return out.Encode(e) })
	if err != nil {
		return err
	}
	return out.Encode(struct {
		Heads []string `json:"heads"`
	}{Heads(end)})
}
