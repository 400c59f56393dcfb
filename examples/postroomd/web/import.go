package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/postroom-go/postroom/examples/postroomd/editor"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// An importPage takes in filters of another kind.
type importPage struct {
	Mailbox string
	Text    string // that was pasted
	Fault   string // why nothing was taken
	*imported
}

// imported is what was taken of other filters, and what was not.
type imported struct {
	Taken, Known []string                 // names of rules
	Lost         []rulesfile.Untranslated // what rules cannot say
}

func (h *Handler) importForm(ctx context.Context, u *url.URL) (*view, error) {
	account, err := h.mailbox(ctx, u.Query().Get("mailbox"))
	return importView(&importPage{Mailbox: account.Email, imported: &imported{}}), err
}

func importView(page *importPage) *view {
	return &view{name: "import", title: "Import rules", data: page}
}

// importRules opens the editor with the rules that are made of the filters of the form. Nothing is saved.
func (h *Handler) importRules(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	account, err := h.mailbox(ctx, r.PostFormValue("mailbox"))
	if err != nil {
		h.failed(w, r, err)
		return
	}
	page := &importPage{Mailbox: account.Email, Text: r.PostFormValue("text"), imported: &imported{}}
	v, err := h.importedInEditor(ctx, r, page, account)
	status := http.StatusOK
	if fault, wrong := errors.AsType[usage.Error](err); wrong {
		page.Fault, status = fault.Error(), http.StatusUnprocessableEntity
		v, err = importView(page), nil
	}
	if err != nil {
		h.failed(w, r, err)
		return
	}
	h.page(w, r, &url.URL{Path: r.URL.Path}, status, v)
}

// importedInEditor is the editor with the imported rules at the end. Filters of which no rule can be made are a
// [usage.Error].
func (h *Handler) importedInEditor(
	ctx context.Context, r *http.Request, page *importPage, account mailstore.Account,
) (*view, error) {
	text, err := filtersOf(r)
	if err != nil {
		return nil, err
	}
	added, err := h.app.RuleEditor.Import(ctx, account, text, func(before string) (*rulesfile.File, error) {
		return h.parseRules(ctx, account.ID, before, before)
	})
	if page.Lost = added.Lost; err != nil {
		return nil, err
	}
	page.Taken, page.Known = added.Taken, added.Known
	before := added.Before
	opened := &editorPage{Text: added.File.Source, Seen: editor.Digest(before), Mailbox: account.Email,
		Imported: page.imported}
	return editorView(opened), h.checked(ctx, opened, account, before, added.File)
}

// filtersOf is the file of the form, or the text that was pasted.
func filtersOf(r *http.Request) (string, error) {
	file, _, err := r.FormFile("file")
	if err != nil { // there is none, or the form has no files
		return r.PostFormValue("text"), nil
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxForm))
	if len(content) == 0 && err == nil { // none was chosen
		return r.PostFormValue("text"), nil
	}
	return string(content), err
}
