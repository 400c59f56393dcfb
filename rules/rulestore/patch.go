package rulestore

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
)

// A TextPatch changes a text that may be absent, in three ways: the zero value keeps it, [ClearText] removes it and
// [SetText] replaces it. In JSON these are an absent field, null and a string.
type TextPatch struct {
	set  bool
	text string
}

// ClearText removes the text.
func ClearText() TextPatch { return TextPatch{set: true} }

// SetText replaces the text.
func SetText(text string) TextPatch { return TextPatch{set: true, text: text} }

// UnmarshalJSON reads null or a string; it is not called for an absent field.
func (p *TextPatch) UnmarshalJSON(data []byte) error {
	if bytes.Equal(data, []byte("null")) {
		*p = ClearText()
		return nil
	}
	p.set = true
	return json.Unmarshal(data, &p.text)
}

func (p TextPatch) apply(to *string) {
	if p.set {
		*to = p.text
	}
}

// A Patch changes a rule; nil and zero fields do not change.
type Patch struct {
	Name        *string              `json:"name"`
	Description TextPatch            `json:"description"`
	Enabled     *bool                `json:"enabled"` // true also clears the reason, unless the patch sets one
	Scope       *rules.Scope         `json:"scope"`   // global also clears the reference
	ScopeRef    TextPatch            `json:"scope_ref"`
	Priority    *int                 `json:"priority"`
	Condition   *rules.Condition     `json:"condition"`
	Action      *postroom.ActionType `json:"action"`
	Parameters  *postroom.Parameters `json:"parameters"`
	Also        *[]rules.RuleAction  `json:"further_actions"`
	SafeMode    *postroom.SafeMode   `json:"safe_mode"`

	Continue       *bool                 `json:"continue"`
	Schedule       *rules.Schedule       `json:"schedule"`
	Authentication *rules.Authentication `json:"authentication"`

	DisabledReason TextPatch `json:"disabled_reason"`

	// Revision is the revision of the rule for which the patch was made: if the rule has changed since, nothing changes,
	// and the error is [ErrChanged]. 0 means no check.
	Revision int64 `json:"revision"`
}

// Patch changes a stored rule and returns the changed rule. What it makes the rule do must be possible now, as for
// [Store.Create].
func (s *Store) Patch(ctx context.Context, tx queue.Tx, id string, p Patch) (*rules.Rule, error) {
	var patched *rules.Rule
	err := s.change(ctx, tx, id, func(e *edit, r *rules.Rule) error {
		if p.Revision != 0 && p.Revision != r.Revision {
			return fmt.Errorf("rule %q: %w: the patch is for revision %d and the rule is at %d; read it again", r.Name,
				ErrChanged, p.Revision, r.Revision)
		}
		p.apply(r)
		patched = r
		if err := e.update(ctx, r); err != nil || p.Action == nil && p.Parameters == nil && p.Also == nil {
			return err
		}
		return r.CheckTimes(s.kinds, queue.Now(tx))
	})
	if err != nil {
		return nil, err
	}
	return patched, nil
}

func (p *Patch) apply(r *rules.Rule) {
	set(&r.Name, p.Name)
	set(&r.Enabled, p.Enabled)
	if r.Enabled && p.Enabled != nil {
		r.DisabledReason = ""
	}
	set(&r.Scope, p.Scope)
	p.ScopeRef.apply(&r.ScopeRef)
	if p.Scope != nil && *p.Scope == rules.ScopeGlobal {
		r.ScopeRef = ""
	}
	set(&r.Priority, p.Priority)
	set(&r.Action, p.Action)
	set(&r.SafeMode, p.SafeMode)
	p.Description.apply(&r.Description)
	p.DisabledReason.apply(&r.DisabledReason)
	set(&r.Condition, p.Condition)
	set(&r.Parameters, p.Parameters)
	set(&r.Also, p.Also)
	set(&r.Continue, p.Continue)
	set(&r.Schedule, p.Schedule)
	set(&r.Authentication, p.Authentication)
}

func set[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}
