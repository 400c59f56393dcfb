package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety/checkpoint"
	"github.com/postroom-go/postroom/safety/events"
)

// HeldByRestore explains to people what waits because the database was put back, or because that is not known; empty
// if nothing does.
func (h *App) HeldByRestore(ctx context.Context) (string, error) {
	err := h.Ledger.Remember(ctx)
	held, ok := errors.AsType[*postroom.HeldError](err)
	switch {
	case !ok:
		return "", err
	case errors.Is(err, checkpoint.ErrRestored):
		return "stopped: no action is carried out or taken back: " + held.Reason + " with 'postroomd audit accept'", nil
	}
	return "stopped: what cannot be taken back: " + held.Reason, nil
}

// recordSettings records the settings that apply to decisions from now on.
func (h *App) recordSettings(ctx context.Context) error {
	return h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return h.Ledger.RecordSettings(ctx, tx, CurrentUser())
	})
}

// onEvent logs stops, resumptions, and settings that differ from those of the last start, and tells people of stops and
// of requests that they are not asked any more.
func (h *App) onEvent(ctx context.Context, tx queue.Tx, e events.Event) error {
	switch e.Kind {
	case events.Settings:
		return h.logSettings(ctx, e)
	case events.NotAsked:
		h.Log.WarnContext(ctx, "nobody is asked about the rest of a group", "account", e.AccountID, "why", e.Why)
		return h.tellNotAsked(ctx, tx, e)
	}
	h.Log.WarnContext(ctx, "what may be done has changed", "event", e.Kind, "account", e.AccountID, "source", e.Source,
		"by", e.By, "why", e.Why)
	return h.tellOfEvent(ctx, tx, e)
}

// logSettings does not log the first settings: nobody has changed them.
func (h *App) logSettings(ctx context.Context, e events.Event) error {
	if e.Was == "" {
		return nil
	}
	was, is := settingsIn(e.Was), settingsIn(e.Why)
	attrs := []any{"by", e.By}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if was[name] != is[name] {
			attrs = append(attrs, name, fmt.Sprintf("%s, before %s", is[name], cmp.Or(was[name], "unset")))
		}
	}
	h.Log.WarnContext(ctx, "the settings of what needs a person have changed", attrs...)
	return nil
}

// settingsIn returns the settings of a [events.Event], each as JSON, including those of the policy. An altered text
// that is not JSON has none.
func settingsIn(text string) map[string]string {
	var all, policy map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &all) != nil || json.Unmarshal(all["Policy"], &policy) != nil {
		return nil
	}
	delete(all, "Policy")
	maps.Copy(all, policy)
	flat := map[string]string{}
	for name, value := range all {
		flat[name] = string(value)
	}
	return flat
}

// The kinds of events that people cause here, beside those of package events. Their Why says what it was about.
const (
	MailboxPaused      events.Kind = "mailbox_paused"
	MailboxResumed     events.Kind = "mailbox_resumed"
	MailboxSignedIn    events.Kind = "mailbox_signed_in"
	MailboxSignedOut   events.Kind = "mailbox_signed_out"
	MailboxRemoved     events.Kind = "mailbox_removed"
	LabelDescribed     events.Kind = "label_described"
	InstructionAdded   events.Kind = "instruction_added"
	InstructionChanged events.Kind = "instruction_changed"
	InstructionRemoved events.Kind = "instruction_removed"
)

// recorded carries out what a person wants, and records the event with it.
func (h *App) recorded(ctx context.Context, e events.Event, do func(context.Context, queue.Tx) error) error {
	return h.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := do(ctx, tx); err != nil {
			return err
		}
		return h.Ledger.Events().Add(ctx, tx, e)
	})
}

// An Instructor changes instructions to models as a person or program, who is on record with each change.
type Instructor struct {
	app *App
	by  string
}

// InstructedBy returns what changes instructions in the name of a person or program.
func (h *App) InstructedBy(by string) Instructor { return Instructor{h, by} }

// Create is that of [guidance.Store].
func (o Instructor) Create(ctx context.Context, tx queue.Tx, i guidance.Instruction) (guidance.Instruction, error) {
	made, err := o.app.Models.Guidance.Create(ctx, tx, i)
	if err != nil {
		return made, err
	}
	return made, o.record(ctx, tx, InstructionAdded, &made)
}

// Patch is that of [guidance.Store].
func (o Instructor) Patch(ctx context.Context, tx queue.Tx, id string, p guidance.Patch) (guidance.Instruction, error) {
	changed, err := o.app.Models.Guidance.Patch(ctx, tx, id, p)
	if err != nil {
		return changed, err
	}
	return changed, o.record(ctx, tx, InstructionChanged, &changed)
}

// Swap is that of [guidance.Store].
func (o Instructor) Swap(ctx context.Context, tx queue.Tx, id, otherID string) error {
	if err := o.app.Models.Guidance.Swap(ctx, tx, id, otherID); err != nil {
		return err
	}
	return o.app.Ledger.Events().Add(ctx, tx, events.Event{Kind: InstructionChanged, By: o.by,
		Why: "the priorities of " + id + " and " + otherID})
}

// Delete is that of [guidance.Store].
func (o Instructor) Delete(ctx context.Context, tx queue.Tx, id string) error {
	was, err := o.app.Models.Guidance.Patch(ctx, tx, id, guidance.Patch{})
	if err == nil {
		err = o.app.Models.Guidance.Delete(ctx, tx, id)
	}
	if err != nil {
		return err
	}
	return o.record(ctx, tx, InstructionRemoved, &was)
}

// maxTold bounds the text of an instruction in an event, in characters.
const maxTold = 200

func (o Instructor) record(ctx context.Context, tx queue.Tx, kind events.Kind, i *guidance.Instruction) error {
	e := events.Event{Kind: kind, By: o.by, Why: i.ID}
	if i.Scope == guidance.ScopeMailbox {
		e.AccountID = i.ScopeRef
	}
	if !i.Enabled {
		e.Why += ", disabled"
	}
	if len(i.Forbids) > 0 {
		e.Why += fmt.Sprintf(", forbids %v", i.Forbids)
	}
	text := []rune(i.Text)
	if e.Why += ": " + string(text[:min(len(text), maxTold)]); len(text) > maxTold {
		e.Why += "…"
	}
	return o.app.Ledger.Events().Add(ctx, tx, e)
}

// StoppedBy describes to people who has stopped everything, or which rules or models are stopped; empty if nothing is
// stopped.
func (h *App) StoppedBy(ctx context.Context) (string, error) { return h.StoppedIn(ctx, "") }

// StoppedIn is StoppedBy, of the rules and models of one mailbox alone; an empty id stands for all.
func (h *App) StoppedIn(ctx context.Context, accountID string) (string, error) {
	stop, err := h.Ledger.Switch().Stopped(ctx)
	if err != nil {
		return "", err
	}
	held, err := h.HeldByRestore(ctx)
	if err != nil {
		return "", err
	}
	if stop != nil { // its end does not end what a restored database holds
		return strings.TrimSuffix(stop.String()+"\n"+held, "\n"), nil
	}
	if held != "" {
		return held, nil
	}
	return h.openBreakers(ctx, accountID)
}

// OpenBreakers lists the rules or models that breakers have stopped; empty if there are none.
func (h *App) OpenBreakers(ctx context.Context) (string, error) { return h.openBreakers(ctx, "") }

func (h *App) openBreakers(ctx context.Context, accountID string) (string, error) {
	open, err := h.Ledger.Breakers().Open(ctx)
	var lines []string
	for i := range open {
		if accountID == "" || open[i].AccountID == accountID {
			lines = append(lines, "in account "+open[i].AccountID+" "+open[i].String())
		}
	}
	return strings.Join(lines, "\n"), err
}
