// Package firstlook shows what the newest mail of a mailbox is, and which labels and rules would sort it. Nothing is
// applied: a person takes what they like into their rules.
package firstlook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/onboarding"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// A Report is what was seen in a mailbox.
type Report struct {
	onboarding.Report

	Mailbox string `json:"mailbox"`
	YAML    string `json:"yaml,omitempty"` // the suggested rules, as they stand in a file of rules
}

// Read reads the latest report about a mailbox; [postroom.ErrNotFound] if nobody has looked at it.
func Read(ctx context.Context, h *app.App, a mailstore.Account) (v Report, err error) {
	v.Mailbox = a.Email
	if v.Report, err = h.Onboarding.Report(ctx, a.ID); err != nil {
		return v, err
	}
	if len(v.Rules) > 0 {
		v.YAML = string(rulesfile.Marshal(rulesfile.FileOf(v.Suggested())))
	}
	return v, nil
}

// Start has a mailbox looked at, and returns the id of the job.
func Start(ctx context.Context, h *app.App, a mailstore.Account) (jobID string, err error) {
	err = h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		jobID, err = h.Onboarding.Start(ctx, tx, a.ID)
		return err
	})
	return jobID, err
}

// Look has a mailbox looked at, and waits for a running postroomd to do it. It reports whether that is done.
func Look(ctx context.Context, h *app.App, a mailstore.Account) (done bool, err error) {
	id, err := Start(ctx, h, a)
	if err != nil {
		return false, err
	}
	return h.CarryOut(ctx, func(ctx context.Context) (bool, error) {
		job, err := h.Queue.Job(ctx, id)
		if err != nil {
			return false, err
		}
		if job.State == queue.StateFailed || job.State == queue.StateCanceled {
			return false, fmt.Errorf("the job %s is %s: %s", id, job.State, job.LastError)
		}
		return job.State == queue.StateCompleted, nil
	})
}

// IsMissing reports whether nobody has looked at the mailbox.
func IsMissing(err error) bool { return errors.Is(err, postroom.ErrNotFound) }

// mostPrinted bounds the senders that are printed.
const mostPrinted = 10

// Print prints a report for people.
func (v *Report) Print(w io.Writer) error {
	r := printer.NewReport(w)
	r.Add("mailbox", v.Mailbox)
	r.Add("looked at", printer.Clock(v.MadeAt))
	r.Add("messages", v.Messages)
	for _, c := range v.Kinds {
		r.Add(string(c.Kind), fmt.Sprintf("%d, %d of them unread", c.Messages, c.Unread))
	}
	r.Heading("Most mail is from")
	for i := range v.Senders[:min(len(v.Senders), mostPrinted)] {
		s := &v.Senders[i]
		r.Line(fmt.Sprintf("%d  %s", s.Messages, strings.TrimSpace(s.ID+"  "+s.Name)))
	}
	r.Heading("Rules that would sort it; none is in use")
	for i := range v.Rules {
		s := &v.Rules[i]
		r.Line(fmt.Sprintf("%s: label %s (%s)", s.Condition.Value, s.Label, s.Why))
	}
	if len(v.Rules) == 0 {
		r.Line("none")
	}
	return r.Flush()
}
