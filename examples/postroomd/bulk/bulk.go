// Package bulk does one thing to all mail that a search finds, as one batch that one undo takes back. [Plan] says what
// would be done; [Act] does it, if it still is that. The decisions are the person's own.
package bulk

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/uuid7"
)

const (
	// Most is how many messages are acted on at once.
	Most = 500
	// maxSeen is how many results of a search are looked at for them.
	maxSeen = 5000
	// shown is how many messages a preview shows.
	shown = 20
	// maxQuery bounds a search, in bytes.
	maxQuery = 1000
	// trashDays is how long Gmail keeps what is in the trash.
	trashDays = 30
)

// Kinds are the actions that a person may do to all that a search finds: those that can be taken back exactly, and are
// not refused here.
func Kinds(h *app.App) []postroom.ActionType {
	return slices.DeleteFunc(append(h.InsteadKinds(), postroom.MarkUnread, postroom.Unstar),
		func(t postroom.ActionType) bool { return !h.AnsweredTogether(t) })
}

// A Request is what a person wants done.
type Request struct {
	Account mailstore.Account
	Query   string // as in Gmail's search box; required
	Spam    bool   // whether spam and trash are searched too
	Kind    postroom.ActionType
	Label   string // the name of one of the account's own labels, for a kind that has a label
	Again   bool   // whether what was changed by hand, or undone, is not left alone
	By      string // who wants it
	Batch   string // the id of the batch, which a preview has named; empty: a new one
}

// A Preview is what would be done.
type Preview struct {
	Kind      postroom.ActionType `json:"kind"`
	Label     string              `json:"label,omitempty"`
	Count     int                 `json:"count"` // how many messages it would be done to, at most 500
	Mail      []view.Mail         `json:"mail"`  // the newest 20 of them
	LeftAlone []Left              `json:"left_alone"`
	More      bool                `json:"more"`           // whether the search finds more, which were not looked at
	Note      string              `json:"note,omitempty"` // what a person should know about the action
	Digest    string              `json:"digest"`         // of what would be done, and to which messages
	Batch     string              `json:"-"`              // the id of the batch that would do it

	// Of the search; see [mailindex.Page].
	UnknownLabels []string     `json:"unknown_labels,omitempty"`
	Doubts        []view.Doubt `json:"doubts,omitempty"`

	messages []*postroom.Message
	decision postroom.Decision
}

// Left counts the messages that are left alone for one reason.
type Left struct {
	N   int    `json:"n"`
	Why string `json:"why"`
}

// Plan says what would be done, and writes nothing. What cannot be done is a [usage.Error].
func Plan(ctx context.Context, h *app.App, r Request) (*Preview, error) {
	if err := r.check(h); err != nil {
		return nil, err
	}
	p := &Preview{Kind: r.Kind, Label: r.Label, LeftAlone: []Left{}, Batch: r.Batch}
	var err error
	if p.Batch == "" {
		if p.Batch, err = uuid7.New(); err != nil {
			return nil, err
		}
	}
	if p.decision, err = r.decision(ctx, h); err != nil {
		return nil, err
	}
	leaves := func(m *postroom.Message) (string, error) { return p.leaves(ctx, h, m, r.Again) }
	if err := p.find(ctx, h, r, leaves); err != nil {
		return nil, err
	}
	if r.Kind == postroom.Trash && p.Count > 0 {
		p.Note = "Gmail keeps what is in the trash for 30 days, until " +
			printer.Minute(time.Now().AddDate(0, 0, trashDays)) + "; until then it can be taken back."
	}
	return p, nil
}

// batchID is what the id of a batch looks like.
var batchID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

func (r *Request) check(h *app.App) error {
	if kinds := Kinds(h); !slices.Contains(kinds, r.Kind) {
		return usage.Errorf("%s is not done to a whole search: choose one of %s.", cmp.Or(r.Kind, "nothing"),
			strings.Join(printer.List(kinds, func(t postroom.ActionType) string { return string(t) }), ", "))
	}
	return r.checkQuery()
}

func (r *Request) checkQuery() error {
	switch {
	case strings.TrimSpace(r.Query) == "":
		return usage.Errorf("Write what to search for, as in Gmail's search box; all mail at once is not acted on.")
	case len(r.Query) > maxQuery:
		return usage.Errorf("The search is too long: at most %d bytes are searched for.", maxQuery)
	case r.Batch != "" && !batchID.MatchString(r.Batch):
		return usage.Errorf("The form is not one of this page: go back, and reload it.")
	}
	return nil
}

// decision is that of the person, without its key.
func (r *Request) decision(ctx context.Context, h *app.App) (postroom.Decision, error) {
	d := postroom.Decision{Action: r.Kind, Parameters: postroom.Parameters{}, Confidence: 1, Source: postroom.SourceHost,
		Rationale: r.By + " chose it for all that the search '" + r.Query + "' finds"}
	kind, _ := h.Ledger.Kinds().Kind(r.Kind)
	if _, takes := kind.TakesLabel(); !takes {
		if r.Label != "" {
			return d, usage.Errorf("%s has no label: leave it out.", r.Kind)
		}
		return d, nil
	}
	labels, err := h.Mail.Labels(ctx, r.Account.ID)
	if err != nil {
		return d, err
	}
	i := slices.IndexFunc(labels, func(l postroom.Label) bool {
		return l.Type == postroom.LabelUser && strings.EqualFold(l.Name, r.Label)
	})
	if i < 0 {
		return d, usage.Errorf("%s needs one of the labels of %s: it has none that is called %q.", r.Kind, r.Account.Email,
			r.Label)
	}
	d.Parameters[postroom.ParamLabel] = labels[i].ID
	return d, nil
}

// find finds the messages to act on, and describes them. leaves returns why a message is left alone; empty if not.
func (p *Preview) find(
	ctx context.Context, h *app.App, r Request, leaves func(m *postroom.Message) (string, error),
) error {
	if err := p.search(ctx, h, r, leaves); err != nil {
		return err
	}
	names, err := h.LabelNames(ctx)
	if err != nil {
		return err
	}
	p.Count = len(p.messages)
	p.Mail = view.NewMailPage(mailindex.Page{Messages: p.messages[:min(p.Count, shown)]}, names).Messages
	p.Digest = p.digest(r.Account.ID)
	return nil
}

// search looks for messages to act on, newest first, until there are enough.
func (p *Preview) search(
	ctx context.Context, h *app.App, r Request, leaves func(m *postroom.Message) (string, error),
) error {
	left, seen := map[string]int{}, 0
	search := mailindex.Search{Query: r.Query, SpamAndTrash: r.Spam, Limit: Most}
	for {
		page, err := h.SearchMail(ctx, r.Account.ID, search)
		if err != nil {
			return err
		}
		for i, m := range page.Messages {
			why, err := leaves(m)
			if err != nil {
				return err
			}
			if why != "" {
				left[why]++
				continue
			}
			if p.messages = append(p.messages, m); len(p.messages) == Most {
				p.More = i+1 < len(page.Messages) || page.Next != ""
				p.describe(page, left)
				return nil
			}
		}
		if seen += len(page.Messages); page.Next == "" || seen >= maxSeen {
			p.More = page.Next != ""
			p.describe(page, left)
			return nil
		}
		search.Cursor = page.Next
	}
}

// describe notes what was found out besides the messages.
func (p *Preview) describe(page mailindex.Page, left map[string]int) {
	of := view.NewMailPage(page, nil)
	p.UnknownLabels, p.Doubts = of.UnknownLabels, of.Doubts
	for why, n := range left {
		p.LeftAlone = append(p.LeftAlone, Left{n, why})
	}
	slices.SortFunc(p.LeftAlone, func(a, b Left) int { return cmp.Or(b.N-a.N, strings.Compare(a.Why, b.Why)) })
}

// leaves returns why a message is left alone; empty if it is not.
func (p *Preview) leaves(ctx context.Context, h *app.App, m *postroom.Message, again bool) (string, error) {
	before := postroom.NewSnapshot(m.LabelIDs)
	kind, _ := h.Ledger.Kinds().Kind(p.Kind)
	switch {
	case before.Has(postroom.LabelDraft):
		return "it is a draft", nil
	case before.Apply(kind.Effect(p.decision.Parameters).Change).ChangeFrom(before).IsZero():
		return "it is so already", nil
	}
	queued, err := h.Ledger.Queued(ctx, m.AccountID, m.ID)
	if err != nil {
		return "", err
	}
	if len(queued) > 0 {
		return "something is still to be done to it", nil
	}
	if again {
		return "", nil
	}
	reverses, err := h.Undoer.Reverses(ctx, m, &p.decision)
	if err != nil || !reverses {
		return "", err
	}
	return ByHand, nil
}

// ByHand is why a message is left alone unless [Request] says again.
const ByHand = "you have changed this by hand, undone or rejected it, or it waits"

// digest is that of the action and the ids of its messages, in any order.
func (p *Preview) digest(accountID string) string {
	ids := printer.List(p.messages, func(m *postroom.Message) string { return m.ID })
	slices.Sort(ids)
	label, _ := p.decision.Parameters.Text(postroom.ParamLabel)
	sum := sha256.Sum256([]byte(strings.Join(append([]string{accountID, string(p.Kind), label}, ids...), "\n")))
	return hex.EncodeToString(sum[:])
}
