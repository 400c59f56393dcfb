package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/llm/agent"
)

// Kinds of ids that a person types.
var (
	actionIDs   = typedIDs{"actions", "id", "action", "postroomd actions"}
	decisionIDs = typedIDs{"decisions", "id", "decision", "postroomd decisions list"}
	taskIDs     = typedIDs{"tasks", "id", "task", "postroomd tasks list --all"}
	noteIDs     = typedIDs{"notes", "id", "note", "postroomd notes list"}
	reminderIDs = typedIDs{"reminders", "id", "reminder", "postroomd reminders list --all"}
	draftIDs    = typedIDs{"replies", "thread_id", "draft", "postroomd drafts list --all"}
	runIDs      = typedIDs{"agent_runs", "id", "run", "postroomd agents list"}
	messageIDs  = typedIDs{"messages", "id", "message", "postroomd mail list"}
	gmailIDs    = typedIDs{"messages", "provider_message_id", "message", "postroomd mail list"}
)

// typedIDs are the ids of a table, of which a person types as much as is unique.
type typedIDs struct {
	table, column string
	one           string // what has the id
	listing       string // the command that lists the ids
}

// mostCandidates bounds the ids that an error about an ambiguous one lists.
const mostCandidates = 10

// complete returns the one id that begins or ends with what is typed; case is ignored. Without such an id, it returns
// an empty one. With an account, only what is of it counts: whoever sees that account learns of no other's ids.
func (k typedIDs) complete(ctx context.Context, h *App, accountID, typed string) (string, error) {
	text := strings.ToLower(strings.TrimSpace(typed))
	if text == "" || strings.Trim(text, "0123456789abcdef-") != "" {
		return "", nil
	}
	var ids []string
	of, args := "", []any{text + "%", "%" + text}
	if accountID != "" {
		of, args = " AND account_id = $3", append(args, accountID)
	}
	err := h.DB.Reader().SelectContext(ctx, &ids, fmt.Sprintf("SELECT DISTINCT %[2]s FROM %[1]s "+
		"WHERE (%[2]s LIKE $1 OR %[2]s LIKE $2)%[4]s ORDER BY %[2]s LIMIT %[3]d", k.table, k.column, mostCandidates+1, of),
		args...)
	if err != nil {
		return "", fmt.Errorf("find %s %q: %w", k.one, typed, err)
	}
	if len(ids) == 0 {
		return "", nil
	}
	return OneID(ids, k.one, typed, k.listing)
}

// OneID returns the only id of candidates; otherwise an error that lists them, and names the command that lists all.
func OneID(candidates []string, one, typed, listing string) (string, error) {
	switch n := len(candidates); n {
	case 0:
		return "", usage.Errorf("there is no %s %s; '%s' lists them", one, typed, listing)
	case 1:
		return candidates[0], nil
	default:
		list := strings.Join(candidates[:min(n, mostCandidates)], ", ")
		if n > mostCandidates {
			list += ", …"
		}
		return "", usage.Errorf("%s %q: it could be %s; give more of it: '%s' lists the %ss", one, typed, list, listing,
			one)
	}
}

// MatchesID reports whether an id begins or ends with what a person has typed; case is ignored.
func MatchesID(id, typed string) bool {
	text := strings.ToLower(strings.TrimSpace(typed))
	return text != "" && (strings.HasPrefix(id, text) || strings.HasSuffix(id, text))
}

// ResolveAction completes the beginning or the end of an action's id.
func (h *App) ResolveAction(ctx context.Context, typed string) (string, error) {
	id, err := actionIDs.complete(ctx, h, "", typed)
	if err == nil && id == "" {
		return "", usage.Errorf("there is no action %s; 'postroomd actions' lists the actions", typed)
	}
	return id, err
}

// FindAction is ResolveAction for an id that may be of something else: it returns an empty one if there is no such
// action.
func (h *App) FindAction(ctx context.Context, typed string) (string, error) {
	return actionIDs.complete(ctx, h, "", typed)
}

// FindDecision completes the beginning or the end of a decision's id; empty if there is no such decision.
func (h *App) FindDecision(ctx context.Context, typed string) (string, error) {
	return decisionIDs.complete(ctx, h, "", typed)
}

// ResolveTask completes the beginning or the end of a task's id.
func (h *App) ResolveTask(ctx context.Context, typed string) (string, error) {
	id, err := taskIDs.complete(ctx, h, "", typed)
	if err == nil && id == "" {
		return "", usage.Errorf("there is no task %s; '%s' lists them", typed, taskIDs.listing)
	}
	return id, err
}

// ResolveNote completes the beginning or the end of a note's id.
func (h *App) ResolveNote(ctx context.Context, typed string) (string, error) {
	id, err := noteIDs.complete(ctx, h, "", typed)
	if err == nil && id == "" {
		return "", usage.Errorf("there is no note %s; '%s' lists them", typed, noteIDs.listing)
	}
	return id, err
}

// ResolveReminder completes the beginning or the end of a reminder's id.
func (h *App) ResolveReminder(ctx context.Context, typed string) (string, error) {
	id, err := reminderIDs.complete(ctx, h, "", typed)
	if err == nil && id == "" {
		return "", usage.Errorf("there is no reminder %s; '%s' lists them", typed, reminderIDs.listing)
	}
	return id, err
}

// FindRun completes the beginning or the end of the id of a run. With an account, only its runs count.
func (h *App) FindRun(ctx context.Context, accountID, typed string) (agent.Run, error) {
	id, err := runIDs.complete(ctx, h, accountID, typed)
	if err == nil && id == "" {
		err = usage.Errorf("there is no run %s; '%s' lists them", typed, runIDs.listing)
	}
	if err != nil {
		return agent.Run{}, err
	}
	return h.Agents.Agent.Run(ctx, id)
}
