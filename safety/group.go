package safety

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/events"
	"github.com/postroom-go/postroom/safety/gate"
	"github.com/postroom-go/postroom/safety/groups"
	"github.com/postroom-go/postroom/safety/internal/counts"
	"github.com/postroom-go/postroom/safety/origin"
	"github.com/postroom-go/postroom/safety/reasons"
)

const (
	// mostAlone is how many requests of a kind stand alone within a day, before they are grouped.
	mostAlone = 3
	// mostAsked is how many requests of a kind models may cause within a day.
	mostAsked = 50
	// mostAskedOfMany is the bound of a kind that many senders share; each of them has mostAsked besides.
	mostAskedOfMany = 4 * mostAsked
	// mostAskedOfNew is that bound for senders with fewer than mostAlone requests, so that a flood from a few addresses
	// does not hide others.
	mostAskedOfNew = 6 * mostAsked
	// mostAskedInAll is that bound for senders that the user has written to, so that a flood from many addresses hides
	// none of them. Whoever forges their addresses does not exceed it.
	mostAskedInAll = 8 * mostAsked
)

// bySender begins the key of what is grouped by sender.
const bySender = "sender "

// standingAlone begins the key of requests that are only counted.
const standingAlone = "alone "

// groupOf returns the requests that a person answers together with the one about a decision: those beyond the share of
// models, those about notices, those that a cap or a breaker holds, those of rules that a drift asks about, and those
// of models about the mail of one domain, or about all mail that is not verified, the last four after the third of a
// day. A batch of rules over earlier mail is grouped by its own command. What must be approved one by one stands alone,
// and is counted for itself.
func groupOf(kinds *postroom.Kinds, msg *postroom.Message, d postroom.Decision, v *gate.Verdict,
	from origin.Origin) groups.Kind {
	if msg == nil || strings.HasPrefix(d.Key, postroom.BatchKeyPrefix) {
		return groups.Kind{}
	}
	kind := groups.Kind{AccountID: msg.AccountID, Alone: mostAlone}
	if len(v.Overrides) == 1 {
		switch check := v.Overrides[0]; check {
		case gate.OverrideShare, gate.OverrideNotice:
			kind.Key, kind.Alone = string(check), 0
		case gate.OverrideCap, gate.OverrideBreaker:
			kind.Key = string(check)
		case gate.OverrideDrift:
			if d.Source != postroom.SourceModel { // whose mail stays grouped by sender, with the bounds of senders
				kind.Key = string(check)
			}
		}
	}
	if kind.Key == "" && d.Source == postroom.SourceModel {
		kind.Key, kind.Sender = bySender+from.Sender, from.Mailbox
	}
	if kind.Key != "" && !answeredTogether(kinds, d.Action) {
		kind.Key, kind.Alone = standingAlone+kind.Key, groups.AllAlone
	}
	return kind
}

// answeredTogether reports whether a person may answer several requests for the action at once: it is a standard one
// that can be undone and reaches nobody. What a kind of the host does is not known.
func answeredTogether(kinds *postroom.Kinds, t postroom.ActionType) bool {
	standard, ok := postroom.StandardKind(t)
	return ok && standard.Danger != postroom.Dangerous && kinds.Danger(t) != postroom.Dangerous && !kinds.Sends(t)
}

// notAsked returns the reason to cancel what a model has decided instead of asking about it: people were asked often
// enough today about what full is. The message stays as it is.
func notAsked(ctx context.Context, tx queue.Tx, d postroom.Decision, v *gate.Verdict, kind groups.Kind, known bool) (
	why string, full groups.Kind, err error) {
	if d.Source != postroom.SourceModel || !v.RequiresApproval || kind.Key == "" {
		return "", full, nil
	}
	full = kind.OfSender()
	n, _, err := groups.Count(ctx, tx, full)
	most := mostAsked
	if err == nil && n < most && kind.Sender != "" {
		full, most = kind, mostOfShared(n, known)
		n, _, err = groups.Count(ctx, tx, full)
	}
	if err != nil || n < most {
		return "", full, err
	}
	return fmt.Sprintf("not asked: there were %d such requests within a day (%s)", n,
		strings.Join(reasons.Plain(v.Reasons), "; ")), full, nil
}

// mostOfShared returns the bound of a kind that many senders share for one of them, who has caused n requests.
func mostOfShared(n int, known bool) int {
	switch {
	case known:
		return mostAskedInAll
	case n < mostAlone:
		return mostAskedOfNew
	}
	return mostAskedOfMany
}

// tellNotAsked tells people, once in the day of a kind, that they are not asked about the rest of it.
func tellNotAsked(ctx context.Context, tx queue.Tx, log *events.Log, full groups.Kind) error {
	n, ends, err := groups.Count(ctx, tx, full)
	if err != nil {
		return err
	}
	until := ends.UTC().Format(time.RFC3339)
	left := groups.Kind{AccountID: full.AccountID, Key: "not asked " + full.Key + " " + until, Alone: groups.AllAlone}
	if _, err := groups.Join(ctx, tx, left, ""); err != nil {
		return err
	}
	if told, _, err := groups.Count(ctx, tx, left); err != nil || told > 1 {
		return err
	}
	why := fmt.Sprintf("models have caused %d requests about %s within a day; what they decide about more of it is not "+
		"done, and you are not asked, until %s", n, about(full.Key), until)
	if full.Sender != "" {
		why += fmt.Sprintf("; you are still asked about each other sender's first %d, up to %d in all, and about senders "+
			"that you have written to, up to %d", mostAlone, mostAskedOfNew, mostAskedInAll)
	}
	return log.Add(ctx, tx, events.Event{Kind: events.NotAsked, AccountID: full.AccountID,
		Source: postroom.SourceModel, By: "postroom", Why: why})
}

// about names what the requests with a key are about.
func about(key string) string {
	key = strings.TrimPrefix(key, standingAlone)
	names, grouped := strings.CutPrefix(key, bySender)
	if !grouped {
		return map[string]string{
			string(gate.OverrideShare): "mail beyond their share", string(gate.OverrideNotice): "notices",
			string(gate.OverrideCap): "what a cap holds", string(gate.OverrideBreaker): "what a breaker holds",
			string(gate.OverrideDrift): "what you have corrected too often",
		}[key]
	}
	_, mailbox, _ := strings.Cut(names, " ")
	switch name := cmp.Or(mailbox, names); name {
	case origin.Unverified:
		return "mail of senders that are not verified"
	default:
		return "mail of " + name
	}
}

// dryRun returns the reason of an action that a dry run cancels.
func dryRun(v gate.Verdict) string {
	if v.RequiresApproval {
		return wouldAsk
	}
	return counts.DryRunMark + "it would have been carried out"
}

const wouldAsk = counts.DryRunMark + "a person would have been asked"

// WouldAsk reports whether a person would have been asked about an action that was decided in a dry run.
func WouldAsk(a *postroom.Action) bool { return LeftOut(a) && a.Error == wouldAsk }

// LeftOut reports whether an action was canceled because it was decided in a dry run. No person has rejected it, and
// it counts toward no cap, share or breaker.
func LeftOut(a *postroom.Action) bool {
	return a.State == postroom.ActionCanceled && strings.HasPrefix(a.Error, counts.DryRunMark)
}
