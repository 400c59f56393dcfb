package learning

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/rules/learn"
	"github.com/postroom-go/postroom/rules/lessons"
	"github.com/postroom-go/postroom/safety/activity"
)

// A Calibration compares how sure models were with what people have said about what they decided.
type Calibration struct {
	Answers   int     `json:"answers"`
	Bins      []Bin   `json:"bins"`
	Threshold float64 `json:"threshold"` // in use, policy.confidence_default

	// Proposed is the threshold that the answers speak for; 0 if they are too few, or prove none. Of the Covered answers
	// to decisions at it or above, Right were right, which proves a precision of at least Lower.
	Proposed float64 `json:"proposed,omitempty"`
	Right    int     `json:"right,omitempty"`
	Covered  int     `json:"covered,omitempty"`
	Lower    float64 `json:"lower_bound,omitempty"`
}

// A Bin counts the answers to decisions with a confidence from From, and below To.
type Bin struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Right int     `json:"right"`
	Wrong int     `json:"wrong"`
}

// Percent is the share of the bin that was right, in percent; 0 if it is empty.
func (b Bin) Percent() int {
	if b.Right+b.Wrong == 0 {
		return 0
	}
	return 100 * b.Right / (b.Right + b.Wrong)
}

// Line is what the configuration is to say for the proposed threshold; empty if there is none, or it is in use.
func (c *Calibration) Line() string {
	if c.Proposed == 0 || c.Proposed == c.Threshold {
		return ""
	}
	return fmt.Sprintf("confidence_default = %.2f", c.Proposed)
}

// Says says in one sentence what follows.
func (c *Calibration) Says() string {
	switch {
	case c.Answers < learn.MinAnswers:
		return fmt.Sprintf("There are %d answers; a threshold is proposed from %d on.", c.Answers, learn.MinAnswers)
	case c.Proposed == 0:
		return fmt.Sprintf("No threshold is proven: at none, %.0f %% of the decisions or more are right for certain.",
			100*learn.MinLower)
	case c.Line() == "":
		return fmt.Sprintf("The threshold %.2f is the one that the answers speak for.", c.Threshold)
	}
	return fmt.Sprintf("Of %d decisions with a confidence of %.2f or more, %d were right: at least %d %% of such "+
		"decisions are. The threshold is %.2f.", c.Covered, c.Proposed, c.Right, int(100*c.Lower), c.Threshold)
}

const (
	calibratedFrom = 365 * 24 * time.Hour
	mostCalibrated = 2000                // decisions of a mailbox, the newest
	leftFor        = 14 * 24 * time.Hour // what is left as it was done for so long is an answer
	leftOfSender   = 5                   // such answers about the mail of one sender, at most
	mostLeft       = 300                 // such answers of a mailbox, at most
	oneClick       = 2 * time.Second     // answers about the mail of one sender so close to each other may be one click
)

// Calibrate compares what models have decided about the mail of mailboxes with what people said about it: what they
// approved, rejected, took back and changed back, and what they have read and left as it was for two weeks.
func Calibrate(ctx context.Context, h *app.App, accounts []mailstore.Account, now time.Time) (c Calibration,
	err error) {
	if err := Check(h); err != nil {
		return c, err
	}
	var answers []learn.Answer
	for _, a := range accounts {
		of, err := answersOf(ctx, h, a.ID, now)
		if err != nil {
			return c, err
		}
		answers = append(answers, of...)
	}
	found := learn.Calibrate(answers)
	c = Calibration{Answers: found.Answers, Threshold: h.Env.Config.Policy.ConfidenceDefault, Proposed: found.Threshold,
		Right: found.Right, Covered: found.Covered, Lower: found.Lower()}
	for _, b := range found.Bins {
		c.Bins = append(c.Bins, Bin(b))
	}
	return c, nil
}

func answersOf(ctx context.Context, h *app.App, accountID string, now time.Time) (list []learn.Answer, err error) {
	since := now.Add(-calibratedFrom)
	decided, err := h.Ledger.Activity().OfModels(ctx, accountID, since, mostCalibrated)
	if err != nil {
		return nil, err
	}
	verdicts, err := h.Lessons.Verdicts(ctx, accountID, since)
	if err != nil {
		return nil, err
	}
	left, bySender, answered := 0, map[string]int{}, clicks{map[string]bool{}, map[string][]time.Time{}}
	for i := range decided {
		d := &decided[i]
		right, known := d.Approved, d.Approved || d.State == postroom.ActionRejected
		if says := verdicts[d.ActionID]; says != lessons.Silent {
			right, known = says == lessons.Right, true
		}
		if !known && left < mostLeft && bySender[d.Sender] < leftOfSender && now.Sub(d.EndedAt.Time) >= leftFor {
			if known, err = wasRead(ctx, h, accountID, d); err != nil {
				return nil, err
			}
			if right = known; known {
				left++
				bySender[d.Sender]++
			}
		}
		if known && !answered.has(d, right) {
			list = append(list, learn.Answer{Confidence: d.Confidence, Right: right})
		}
	}
	return list, nil
}

// clicks are what people have answered about requests, by sender and answer. The bound of the threshold holds for
// answers that do not depend on each other. Who approves a group of 50 requests by one click has judged each sender in
// it once, by what was shown of its mail, and not each of 50 messages. So what is answered alike about one sender, in
// one group or by one click on several, is one answer, that about its newest decision. One answer for the whole group
// would say too little where it is about many senders, whose mail differs as the model's mistakes do.
type clicks struct {
	groups map[string]bool
	at     map[string][]time.Time
}

// has reports whether an answer belongs to one that was there before, and else adds it. What was said by taking an
// action back is no answer to a request.
func (c *clicks) has(d *activity.ModelAction, right bool) bool {
	if d.AnsweredAt.IsZero() || right != d.Approved {
		return false
	}
	alike := fmt.Sprintf("%t %s", right, d.Sender)
	inGroup := alike + " " + d.Group
	known := d.Group != "" && c.groups[inGroup] || slices.ContainsFunc(c.at[alike], func(at time.Time) bool {
		return at.Sub(d.AnsweredAt.Time).Abs() <= oneClick
	})
	c.groups[inGroup] = true
	c.at[alike] = append(c.at[alike], d.AnsweredAt.Time)
	return known
}

// wasRead reports whether a person has read the message of an action, which has not marked it as read itself, and has
// left it as it was: not thrown away, or still in the trash if the action was to put it there.
func wasRead(ctx context.Context, h *app.App, accountID string, d *activity.ModelAction) (bool, error) {
	if d.Action == postroom.MarkRead {
		return false, nil
	}
	m, err := h.Mail.Message(ctx, accountID, d.MessageID)
	if errors.Is(err, postroom.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	asDecided := m.HasLabel(postroom.LabelTrash) == (d.Action == postroom.Trash)
	return asDecided && !m.HasLabel(postroom.LabelUnread) && !m.HasLabel(postroom.LabelSpam), nil
}
