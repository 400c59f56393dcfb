package web

import (
	"context"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/fixing"
	"github.com/postroom-go/postroom/examples/postroomd/ruledraft"
	"github.com/postroom-go/postroom/examples/postroomd/web/ruleform"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// A markView is the mark of a message in a form.
type markView struct {
	ID, Subject, Value string
	Met                bool   // the rule does what the mark says
	Says               string // whether it does; empty without a mark
}

// Mark is the mark of a message, which the rule of the form has found or not.
func (f *frame) Mark(m *postroom.Message, found bool) markView {
	v := markView{ID: m.ID, Subject: m.Subject}
	page, ok := f.Data.(*ruleFormPage)
	if !ok {
		return v
	}
	switch v.Value = page.Form.MarkOf(m.ID); {
	case v.Value == "":
	case found == (ruleform.Mark{Right: true}.Value() == v.Value):
		v.Met, v.Says = true, "as marked"
	case found:
		v.Says = "the rule still finds it"
	default:
		v.Says = "the rule does not find it"
	}
	return v
}

// withTests adds the marks of a form to a file, as tests of its rule.
func (h *Handler) withTests(
	ctx context.Context, account mailstore.Account, file *rulesfile.File, f ruleform.Form, path string,
) (*rulesfile.File, error) {
	marks := make([]ruledraft.Mark, len(f.Marks))
	for i, mark := range f.Marks {
		m, err := h.app.Mail.Message(ctx, account.ID, mark.ID)
		if err != nil {
			return nil, err
		}
		if marks[i], err = fixing.MarkOf(ctx, h.app, m); err != nil {
			return nil, err
		}
		marks[i].Right = mark.Right
	}
	return ruledraft.AddTests(file, f.Name, marks, h.app.Env.ActionKinds(), h.app.RuleEditor.Options(path)...)
}
