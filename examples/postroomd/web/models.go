package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/learning"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	texts "github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/llm/guidance"
	"github.com/postroom-go/postroom/queue"
)

// A modelsPage is what models are told, what they cost, and their calls.
type modelsPage struct {
	Names        []string
	Instructions []texts.Instruction
	Cost         texts.CostNow

	Mailboxes []mailstore.Account
	Kinds     []postroom.ActionType // that may be forbidden
	New       guidance.Instruction  // that the form adds
	Fault     string                // why it was not added

	Calibration *learning.Calibration // nil where nothing is learned

	modelCalls
}

func (h *Handler) models(ctx context.Context, u *url.URL) (*view, error) {
	return h.modelsView(ctx, u, guidance.Instruction{}, "")
}

func (h *Handler) modelsView(ctx context.Context, u *url.URL, form guidance.Instruction, fault string) (*view, error) {
	page := &modelsPage{Names: h.app.Models.Names(), New: form, Fault: fault,
		Kinds: slices.DeleteFunc(h.app.Env.ActionKinds().Types(), func(t postroom.ActionType) bool {
			return t == postroom.None
		})}
	var err error
	if page.Mailboxes, err = h.accounts(ctx); err != nil {
		return nil, err
	}
	if page.Instructions, err = texts.NewInstructions(ctx, h.app); err != nil {
		return nil, err
	}
	if page.Cost, err = texts.NewCostNow(ctx, h.app, time.Now()); err != nil {
		return nil, err
	}
	if h.app.Lessons != nil {
		c, err := learning.Calibrate(ctx, h.app, page.Mailboxes, time.Now())
		if err != nil {
			return nil, err
		}
		page.Calibration = &c
	}
	page.modelCalls, err = h.listCalls(ctx, u, page.Names)
	return &view{name: "models", title: "Models", data: page}, err
}

// addInstruction adds what the form tells the models. What cannot be added comes back with its fault.
func (h *Handler) addInstruction(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	form := guidance.Instruction{Enabled: true, Priority: guidance.DefaultPriority, Text: textOf(r),
		Forbids: forbidden(r), Scope: guidance.Scope(r.PostFormValue("scope")), ScopeRef: r.PostFormValue("of")}
	stored := form
	var err error
	switch of := strings.TrimSpace(form.ScopeRef); {
	case form.Scope != guidance.ScopeMailbox:
	case of == "":
		err = usage.Errorf("Say for which mailbox it is.")
	default:
		var account mailstore.Account
		account, err = h.app.Mail.AccountByEmail(ctx, of)
		if stored.ScopeRef = account.ID; errors.Is(err, postroom.ErrNotFound) {
			err = usage.Errorf("There is no mailbox %s.", of)
		}
	}
	if err == nil {
		err = h.changeInstructions(ctx, func(ctx context.Context, tx queue.Tx) error {
			_, err := h.app.InstructedBy(by(r)).Create(ctx, tx, stored)
			return err
		})
	}
	fault, wrong := errors.AsType[usage.Error](err)
	if !wrong {
		h.done(w, r, "add-instruction", err)
		return
	}
	v, err := h.modelsView(ctx, &url.URL{Path: r.URL.Path}, form, fault.Error())
	if err != nil {
		h.failed(w, r, err)
		return
	}
	h.page(w, r, &url.URL{Path: r.URL.Path}, http.StatusUnprocessableEntity, v)
}

// textOf is what the form tells the models, with lines as they are typed.
func textOf(r *http.Request) string {
	return strings.TrimSpace(strings.ReplaceAll(r.PostFormValue("text"), "\r\n", "\n"))
}

// forbidden are the kinds of actions that the form forbids.
func forbidden(r *http.Request) []postroom.ActionType {
	list := make([]postroom.ActionType, len(r.PostForm["forbid"]))
	for i, kind := range r.PostForm["forbid"] {
		list[i] = postroom.ActionType(kind)
	}
	return list
}

// changeInstruction changes the text of an instruction and what it forbids, if it is as the person has seen it.
func (h *Handler) changeInstruction(w http.ResponseWriter, r *http.Request) {
	text, forbids := textOf(r), forbidden(r)
	patch := guidance.Patch{Text: &text, Forbids: &forbids}
	revision, err := strconv.ParseInt(r.PostFormValue("revision"), 10, 64)
	if patch.Revision = revision; err != nil || revision <= 0 {
		h.failed(w, r, usage.Errorf("The form is not one of this page: go back, and reload it."))
		return
	}
	h.patchInstruction(w, r, "change-instruction", patch)
}

func (h *Handler) setInstruction(enabled bool) http.HandlerFunc {
	what := map[bool]string{true: "enable-instruction", false: "disable-instruction"}[enabled]
	return func(w http.ResponseWriter, r *http.Request) {
		h.patchInstruction(w, r, what, guidance.Patch{Enabled: &enabled})
	}
}

func (h *Handler) patchInstruction(w http.ResponseWriter, r *http.Request, what string, patch guidance.Patch) {
	h.done(w, r, what, h.changeInstructions(r.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := h.app.InstructedBy(by(r)).Patch(ctx, tx, r.PathValue("id"), patch)
		return err
	}))
}

func (h *Handler) removeInstruction(w http.ResponseWriter, r *http.Request) {
	h.done(w, r, "remove-instruction", h.changeInstructions(r.Context(), func(ctx context.Context, tx queue.Tx) error {
		return h.app.InstructedBy(by(r)).Delete(ctx, tx, r.PathValue("id"))
	}))
}

// changeInstructions makes a change. What the person has to mend is a [usage.Error].
func (h *Handler) changeInstructions(ctx context.Context, change func(context.Context, queue.Tx) error) error {
	err := h.app.DB.Write(ctx, change)
	if errors.Is(err, guidance.ErrInvalid) || errors.Is(err, guidance.ErrChanged) {
		return usage.Wrap(err)
	}
	return err
}
