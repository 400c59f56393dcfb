package web

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/editor"
	"github.com/postroom-go/postroom/examples/postroomd/learning"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	texts "github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/backtest"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// A rulesPage lists the rules of a mailbox.
type rulesPage struct {
	Rules     []texts.ListedRule
	Mailbox   string
	Mailboxes []mailstore.Account
	Fixed     string            // why they are not changed one by one; empty if they are
	HowTo     string            // how to add a mailbox, while there is none
	Learned   *learning.Listing // nil where nothing is learned
}

func (h *Handler) rules(ctx context.Context, u *url.URL) (*view, error) {
	page := &rulesPage{}
	v := &view{name: "rules", title: "Rules", data: page}
	var err error
	if page.Mailboxes, err = h.accounts(ctx); err != nil {
		return nil, err
	}
	if len(page.Mailboxes) == 0 {
		page.HowTo = h.app.Env.HowToAddMailbox()
		return v, nil
	}
	account, err := h.mailbox(ctx, u.Query().Get("mailbox"))
	if err != nil {
		return nil, err
	}
	page.Mailbox = account.Email
	if page.Fixed, err = h.app.RuleEditor.Fixed(ctx, account.ID); err != nil {
		return nil, err
	}
	if page.Learned, err = h.learned(ctx, account); err != nil {
		return nil, err
	}
	page.Rules, err = texts.NewRules(ctx, h.app, account.ID, page.Mailboxes, time.Now())
	return v, err
}

// A rulePage is one rule as a file has it.
type rulePage struct {
	*rules.Rule
	Text string
}

func (h *Handler) rule(ctx context.Context, r *http.Request) (*view, error) {
	rule, err := h.app.Rules.Get(ctx, r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	text := string(rulesfile.Marshal(&rulesfile.File{Rules: []rules.Rule{*rule}}))
	return &view{name: "rule", title: rule.Name, data: &rulePage{rule, text}}, nil
}

func (h *Handler) setEnabled(enabled bool) http.HandlerFunc {
	what := map[bool]string{true: "enable-rule", false: "disable-rule"}[enabled]
	return func(w http.ResponseWriter, r *http.Request) {
		h.done(w, r, what, h.app.RuleEditor.SetEnabled(r.Context(), by(r), r.PathValue("id"), enabled))
	}
}

func (h *Handler) moveRule(up bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h.done(w, r, "move-rule", h.app.RuleEditor.Move(r.Context(), by(r), r.PathValue("id"), up))
	}
}

// A versionsPage lists the versions of the rules of a mailbox, with the differences of one to the version before.
type versionsPage struct {
	Versions []texts.RulesVersion
	Mailbox  string
	Shown    int64 // the version whose differences are shown; 0 for none
	Newest   int64 // the newest one; to go back to it changes nothing
	Lines    []differenceLine
	Back     []differenceLine // what going back to the version shown changes
	Readers  int              // the mailboxes that read the same file
}

// A differenceLine is a line of the differences of two versions.
type differenceLine struct{ Sign, Text string }

func (h *Handler) versions(ctx context.Context, u *url.URL) (*view, error) {
	account, err := h.mailbox(ctx, u.Query().Get("mailbox"))
	if err != nil {
		return nil, err
	}
	page := &versionsPage{Mailbox: account.Email}
	if page.Versions, err = texts.NewRulesVersions(ctx, h.app, account.ID, texts.RequestsPage); err != nil {
		return nil, err
	}
	v := &view{name: "versions", title: "Versions of the rules", data: page}
	page.Shown, _ = strconv.ParseInt(u.Query().Get("version"), 10, 64)
	for i := range page.Versions {
		if page.Versions[i].Version != page.Shown {
			continue
		}
		page.Newest = page.Versions[0].Version
		var before int64
		if i+1 < len(page.Versions) {
			before = page.Versions[i+1].Version
		}
		if page.Lines, err = h.differences(ctx, before, page.Shown); err != nil {
			return nil, err
		}
		if page.Back, err = h.differences(ctx, page.Newest, page.Shown); err != nil {
			return nil, err
		}
		readers, err := h.app.RuleEditor.Readers(ctx, account.ID)
		page.Readers = len(readers)
		return v, err
	}
	page.Shown = 0
	return v, nil
}

// differences are those of two versions; before may be 0.
func (h *Handler) differences(ctx context.Context, before, after int64) (lines []differenceLine, err error) {
	var old, list []rules.Rule
	if before > 0 {
		v, err := h.app.Rules.Version(ctx, before)
		if err != nil {
			return nil, err
		}
		old = v.List
	}
	v, err := h.app.Rules.Version(ctx, after)
	if err != nil {
		return nil, err
	}
	list = v.List
	return linesOf(rulesfile.Differences(old, list)), nil
}

// signs are the classes of lines that begin so.
var signs = map[string]string{"+": "added", "-": "removed", " ": "same"}

// An editorPage is the rules of a mailbox as a file, to be changed.
type editorPage struct {
	Text    string
	Seen    string // what the text was made from
	Mailbox string
	Fault   string   // why it cannot be saved
	Checked bool     // it was checked, and has no fault
	Notes   []string // what is odd about it
	Rules   int
	Tests   int      // that the text has
	Failed  []string // those of them that fail, and why

	Imported *imported // what the text has of other filters; nil if it comes from elsewhere

	Lines []differenceLine // what it changes
	Tried *backtest.Report // what it would have done; nil if nothing changes, or it took too long
}

func (h *Handler) editor(ctx context.Context, u *url.URL) (*view, error) {
	account, err := h.mailbox(ctx, u.Query().Get("mailbox"))
	if err != nil {
		return nil, err
	}
	text, err := h.app.RuleEditor.Text(ctx, account.ID)
	if err != nil {
		return nil, err
	}
	page := &editorPage{Text: text, Seen: editor.Digest(text), Mailbox: account.Email}
	if query := u.Query(); query.Get("like") != "" {
		err = h.draft(ctx, page, account, query)
	}
	return editorView(page), err
}

func editorView(page *editorPage) *view {
	return &view{name: "editor", title: "Edit the rules", data: page}
}

// edit checks the text of the form, and stores it if the form asks for that. A text with a fault comes back with it.
func (h *Handler) edit(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	account, err := h.mailbox(ctx, r.PostFormValue("mailbox"))
	if err != nil {
		h.failed(w, r, err)
		return
	}
	text := strings.ReplaceAll(r.PostFormValue("text"), "\r\n", "\n") // as forms send it
	page := &editorPage{Text: text, Seen: r.PostFormValue("seen"), Mailbox: account.Email}
	before, err := h.app.RuleEditor.Text(ctx, account.ID)
	if err != nil {
		h.failed(w, r, err)
		return
	}
	file, err := h.parseRules(ctx, account.ID, before, text)
	status, saves := http.StatusOK, r.PostFormValue("do") == "save"
	switch {
	case err != nil && saves:
		page.Fault, status = err.Error(), http.StatusUnprocessableEntity
	case err != nil:
		page.Fault = err.Error()
	case saves:
		if err = h.save(ctx, account.ID, by(r), page.Seen, before, file); err == nil {
			back(w, r, "save-rules")
			return
		}
		page.Fault, status = err.Error(), http.StatusConflict
	default:
		if err = h.checked(ctx, page, account, before, file); err != nil {
			h.failed(w, r, err)
			return
		}
	}
	h.page(w, r, &url.URL{Path: r.URL.Path}, status, editorView(page))
}

// parseRules reads the text of a form. Who has not all mailboxes names no files that were not named before.
func (h *Handler) parseRules(ctx context.Context, accountID, before, text string) (*rulesfile.File, error) {
	path, err := h.app.RuleEditor.Path(ctx, accountID)
	if err != nil {
		return nil, err
	}
	if access.From(ctx).Mailboxes != nil {
		return h.app.RuleEditor.ParseChange(path, before, text)
	}
	return h.app.RuleEditor.Parse(path, text)
}

// save stores the file, if the rules still are what its text was made from.
func (h *Handler) save(ctx context.Context, accountID, by, seen, before string, file *rulesfile.File) error {
	if editor.Digest(before) != seen {
		return usage.Wrap(editor.ErrChanged)
	}
	_, err := h.app.RuleEditor.Save(ctx, accountID, by, before, file)
	return err
}

// restoreRules goes back to a version. What the rules are now is a version as well.
func (h *Handler) restoreRules(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.ParseInt(r.PathValue("number"), 10, 64)
	if err != nil {
		h.failed(w, r, postroom.ErrNotFound)
		return
	}
	newest, err := strconv.ParseInt(r.PostFormValue("newest"), 10, 64)
	if err != nil {
		h.failed(w, r, usage.Wrap(editor.ErrChanged))
		return
	}
	version, err := h.app.Rules.Version(r.Context(), number)
	if err == nil {
		err = h.app.RuleEditor.CheckNewest(r.Context(), version.AccountID, newest)
	}
	if err == nil {
		_, _, err = h.app.RuleEditor.Restore(r.Context(), by(r), version, false)
	}
	h.done(w, r, "restore-rules", err)
}
