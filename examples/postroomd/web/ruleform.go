package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/editor"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/web/ruleform"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// A ruleFormPage is one rule as a form.
type ruleFormPage struct {
	Mailbox string
	Form    ruleform.Form
	Tree    string
	Fault   string
	Actions []postroom.ActionType
	Rules   []string            // the names of those that a new rule may be tried before, as they are tried
	Lists   map[string][]string // suggestions, by the id of their list
	Found   *foundMail          // nil until it is asked for
}

// suggestedSenders bounds the senders that a form suggests.
const suggestedSenders = 50

// ruleForm shows the form of a new rule, or of the one that the address names; as YAML if a form cannot show it.
func (h *Handler) ruleForm(ctx context.Context, u *url.URL) (*view, error) {
	account, err := h.mailbox(ctx, u.Query().Get("mailbox"))
	if err != nil {
		return nil, err
	}
	name := u.Query().Get("rule")
	if name == "" {
		return h.ruleFormView(ctx, account, ruleform.New(), "")
	}
	file, _, err := h.rulesOf(ctx, account.ID)
	if err != nil {
		if _, wrong := errors.AsType[usage.Error](err); wrong {
			return h.editor(ctx, u) // it is to be mended there first
		}
		return nil, err
	}
	i := slices.IndexFunc(file.Rules, func(r rules.Rule) bool { return r.Name == name })
	if i < 0 {
		return nil, postroom.ErrNotFound
	}
	form, shown := ruleform.Of(&file.Rules[i])
	if !shown {
		return h.editor(ctx, u)
	}
	return h.ruleFormView(ctx, account, form, "")
}

// rulesOf reads the rules of a mailbox, with their text.
func (h *Handler) rulesOf(ctx context.Context, accountID string) (*rulesfile.File, string, error) {
	text, err := h.app.RuleEditor.Text(ctx, accountID)
	if err != nil {
		return nil, "", err
	}
	file, err := h.parseRules(ctx, accountID, text, text)
	return file, text, err
}

func (h *Handler) ruleFormView(
	ctx context.Context, account mailstore.Account, form ruleform.Form, fault string,
) (*view, error) {
	page, err := h.ruleFormPage(ctx, account, form, fault)
	return page.view(), err
}

func (p *ruleFormPage) view() *view {
	return &view{name: "ruleform", title: "A rule as a form", data: p}
}

func (h *Handler) ruleFormPage(
	ctx context.Context, account mailstore.Account, form ruleform.Form, fault string,
) (page *ruleFormPage, err error) {
	page = &ruleFormPage{Mailbox: account.Email, Form: form, Fault: fault, Actions: ruleform.Actions}
	if page.Tree, err = form.Tree(); err != nil {
		return page, err
	}
	if page.Lists, err = h.suggestions(ctx, account.ID); err != nil {
		return page, err
	}
	if page.Lists["lists"], err = h.listIDs(ctx, account.ID); err != nil || form.Known {
		return page, err
	}
	file, _, err := h.rulesOf(ctx, account.ID)
	if _, wrong := errors.AsType[usage.Error](err); wrong {
		return page, nil // the next page says so
	}
	if err == nil {
		page.Rules = tried(file.Rules)
	}
	return page, err
}

// mostBefore bounds the rules that a new one may be tried before in a form.
const mostBefore = 100

// tried returns the names of rules that decide, in the order in which they are tried.
func tried(list []rules.Rule) (names []string) {
	list = slices.DeleteFunc(slices.Clone(list), func(r rules.Rule) bool { return !r.Enabled })
	slices.SortStableFunc(list, func(a, b rules.Rule) int { return cmp.Compare(a.Priority, b.Priority) })
	for i := range list[:min(len(list), mostBefore)] {
		names = append(names, list[i].Name)
	}
	return names
}

// place has a new rule tried before the one that the form names. Rules of the same priority as that come after it, too.
func place(rule *rules.Rule, form ruleform.Form, among []rules.Rule) error {
	if form.Before == "" {
		return nil
	}
	i := slices.IndexFunc(among, func(r rules.Rule) bool { return r.Name == form.Before })
	if i < 0 {
		return usage.Errorf("The rule %q is not there any more: choose where this one is tried again.", form.Before)
	}
	rule.Priority = max(among[i].Priority-1, -rules.MaxPriority)
	return nil
}

// suggestions are the senders of the newest mail, their domains, and the labels.
func (h *Handler) suggestions(ctx context.Context, accountID string) (map[string][]string, error) {
	newest, err := h.app.Mail.NewestReceived(ctx, accountID)
	if err != nil {
		return nil, err
	}
	senders, err := h.app.Mail.TopSenders(ctx, accountID, newest.Add(-30*24*time.Hour), suggestedSenders)
	if err != nil {
		return nil, err
	}
	lists := map[string][]string{}
	for _, s := range senders {
		lists["senders"] = append(lists["senders"], s.Sender)
		if domain := rules.DomainOf(s.Sender); domain != "" && !slices.Contains(lists["domains"], domain) {
			lists["domains"] = append(lists["domains"], domain)
		}
	}
	labels, err := h.app.Mail.Labels(ctx, accountID)
	for _, l := range labels {
		lists["labels"] = append(lists["labels"], l.Name)
	}
	return lists, err
}

// suggestedLists bounds the mailing lists that a form suggests, and listsAmong the newest messages that are looked at
// for them: no index knows lists.
const (
	suggestedLists = 50
	listsAmong     = 200
)

// listIDs are the mailing lists of the newest mail.
func (h *Handler) listIDs(ctx context.Context, accountID string) (ids []string, err error) {
	read := 0
	newest := mailstore.MessageRange{NewestFirst: true, WithoutBodies: true}
	for m, err := range h.app.Mail.AllMessages(ctx, accountID, newest) {
		if err != nil {
			return nil, err
		}
		for _, value := range m.Header("List-Id") {
			id := mime.Header{{Name: "List-Id", Value: value}}.List().ID
			if id != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		if read++; read == listsAmong || len(ids) == suggestedLists {
			break
		}
	}
	return ids, nil
}

// changeRuleForm makes one change of the form, or goes on to the editor with the rule in its place. Nothing is saved.
func (h *Handler) changeRuleForm(w http.ResponseWriter, r *http.Request) {
	account, err := h.mailbox(r.Context(), r.PostFormValue("mailbox"))
	if err != nil {
		h.failed(w, r, err)
		return
	}
	form, err := ruleform.Read(r.PostForm)
	if err != nil {
		h.failed(w, r, err)
		return
	}
	var v *view
	status := http.StatusOK
	if r.PostFormValue("do") == "go" {
		v, err = h.ruleInEditor(r.Context(), account, form, zone(inZone(r).Query().Get(zoneParam)))
		if v == nil && err != nil {
			status = http.StatusUnprocessableEntity
			v, err = h.ruleFormView(r.Context(), account, form, err.Error())
		}
	} else {
		v, err = h.ruleFormView(r.Context(), account, form, "")
	}
	if err != nil {
		h.failed(w, r, err)
		return
	}
	h.page(w, r, &url.URL{Path: r.URL.Path}, status, v)
}

// labelOnlyDays is how many days a new rule only labels, if the form says so.
const labelOnlyDays = 7

// ruleInEditor is the editor with the rule of the form. The view is nil if the rule has a fault.
func (h *Handler) ruleInEditor(
	ctx context.Context, account mailstore.Account, form ruleform.Form, reader *time.Location,
) (*view, error) {
	file, before, err := h.rulesOf(ctx, account.ID)
	if err != nil {
		return nil, err
	}
	rule := rules.NewRule(form.Name, form.Condition, form.Action, nil)
	i := slices.IndexFunc(file.Rules, func(r rules.Rule) bool { return r.Name == form.Name })
	switch {
	case i >= 0 && !form.Known:
		return nil, usage.Errorf("There is a rule %q already: give this one another name.", form.Name)
	case i < 0 && form.Known:
		return nil, usage.Errorf("The rule %q is not there any more: open the form again.", form.Name)
	case i >= 0:
		rule = file.Rules[i]
	default:
		if err := place(&rule, form, file.Rules); err != nil {
			return nil, err
		}
	}
	if i < 0 && form.Begins {
		until := time.Now().In(reader).AddDate(0, 0, labelOnlyDays)
		rule.Schedule = rules.Schedule{LabelOnlyUntil: until.Format(time.DateOnly)}
		if reader != time.UTC {
			rule.Schedule.Zone = reader.String()
		}
	}
	form.Put(&rule)
	path, err := h.app.RuleEditor.Path(ctx, account.ID)
	if err != nil {
		return nil, err
	}
	revised, err := file.Revise(rulesfile.Revision{Rules: []rules.Rule{rule}}, h.app.RuleEditor.Options(path)...)
	if err != nil {
		return nil, err
	}
	if revised, err = h.withTests(ctx, account, revised, form, path); err != nil {
		return nil, err
	}
	page := &editorPage{Text: revised.Source, Seen: editor.Digest(before), Mailbox: account.Email}
	v := editorView(page)
	return v, h.checked(ctx, page, account, before, revised)
}
