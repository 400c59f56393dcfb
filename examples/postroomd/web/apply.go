package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	texts "github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/rules"
)

const (
	// maxCount bounds how long old mail is counted for a page, and maxApply how long it may take to record a batch.
	maxCount = 20 * time.Second
	maxApply = 10 * time.Minute
)

// batchName is what the name of a batch looks like, as the page makes it.
var batchName = regexp.MustCompile(`^[0-9a-f-]{36}$`)

// mailAges are the windows of mail that rules are applied to, in days; 0: all of it.
var mailAges = []int{0, 7, 30, 90, 365}

// An applyPage says what the rules in use would do with mail that is there.
type applyPage struct {
	Mailbox string
	Names   []string // of the rules that may be applied
	Rule    string   // the only one that is; empty: all are
	Ages    []int
	Days    int // the mail of how many days; 0: all

	Counted  *rules.Applied // nil until it is asked for, or if it took too long
	TooMuch  bool
	Total    int           // actions
	ByRule   []texts.Share // the most first
	ByKind   []texts.Share
	DryRun   bool   // nothing is done here at all
	Batch    string // the name that the batch would have
	Revision int64  // of the rules
}

// application reads what a form wants applied.
func (h *Handler) application(ctx context.Context, form url.Values) (*applyPage, mailstore.Account, error) {
	page := &applyPage{Ages: mailAges, Rule: form.Get("rule"), DryRun: h.app.Env.Config.Safety.DryRun}
	account, err := h.mailbox(ctx, form.Get("mailbox"))
	if err != nil {
		return nil, account, err
	}
	page.Mailbox = account.Email
	all, err := h.app.Rules.List(ctx)
	if err != nil {
		return nil, account, err
	}
	for i := range all {
		if r := &all[i]; r.Enabled && (r.AccountID == "" || r.AccountID == account.ID) {
			page.Names = append(page.Names, r.Name)
		}
	}
	if page.Rule != "" && !slices.Contains(page.Names, page.Rule) {
		return nil, account, usage.Errorf("There is no enabled rule %q any more.", page.Rule)
	}
	page.Days, _ = strconv.Atoi(form.Get("days"))
	if !slices.Contains(mailAges, page.Days) {
		page.Days = 0
	}
	page.Revision, err = h.app.Rules.Revision(ctx)
	return page, account, err
}

// of is what the page asks for. What sends, or cannot be taken back, is never done to old mail from here.
func (p *applyPage) of(account mailstore.Account, dry bool) app.Application {
	a := app.Application{AccountID: account.ID, Undoable: true, DryRun: dry, Batch: p.Batch}
	if p.Rule != "" {
		a.Only = []string{p.Rule}
	}
	if p.Days > 0 {
		a.Since = time.Now().AddDate(0, 0, -p.Days)
	}
	return a
}

// applyPreview counts what would be done, if the address asks for that. It does nothing.
func (h *Handler) applyPreview(ctx context.Context, u *url.URL) (*view, error) {
	page, account, err := h.application(ctx, u.Query())
	if err != nil {
		return nil, err
	}
	v := &view{name: "apply", title: "Apply the rules to old mail", data: page}
	if u.Query().Get("count") == "" {
		return v, nil
	}
	counting, cancel := context.WithTimeout(ctx, maxCount)
	defer cancel()
	counted, err := h.applyRules(counting, page.of(account, true))
	if counting.Err() != nil && ctx.Err() == nil {
		page.TooMuch = true
		return v, nil
	}
	if err != nil {
		return nil, err
	}
	page.Counted = &counted
	page.ByRule = rowsOf(counted.Rules, func(name string) string { return name })
	page.ByKind = rowsOf(counted.Actions, func(name string) string { return texts.KindWords(postroom.ActionType(name)) })
	for _, row := range page.ByRule {
		page.Total += row.N
	}
	page.Batch = counted.Batch // counting has made a name, which nothing has used
	return v, nil
}

// applyRules waits until few others read old mail.
func (h *Handler) applyRules(ctx context.Context, a app.Application) (rules.Applied, error) {
	select {
	case h.applies <- struct{}{}:
		defer func() { <-h.applies }()
	case <-ctx.Done():
		return rules.Applied{}, ctx.Err()
	}
	return h.app.ApplyRules(ctx, a)
}

// rowsOf are counts by name, the most first.
func rowsOf(counts map[string]int, words func(name string) string) (list []texts.Share) {
	for name, n := range counts {
		list = append(list, texts.Share{Name: words(name), N: n})
	}
	slices.SortFunc(list, func(a, b texts.Share) int { return cmp.Or(b.N-a.N, strings.Compare(a.Name, b.Name)) })
	return list
}

// apply does what was counted, by the rules as they were then.
func (h *Handler) apply(w http.ResponseWriter, r *http.Request) {
	page, account, err := h.application(r.Context(), r.PostForm)
	switch {
	case err != nil:
	case page.DryRun:
		err = usage.Errorf("This is a dry run, which does nothing: set safety.dry_run to false first.")
	case strconv.FormatInt(page.Revision, 10) != r.PostFormValue("revision"):
		err = usage.Errorf("The rules have been changed meanwhile: count again what they would do.")
	case !batchName.MatchString(r.PostFormValue("batch")):
		err = usage.Errorf("The form is not one of this page: go back, and reload it.")
	}
	if err != nil {
		h.failed(w, r, err)
		return
	}
	page.Batch = r.PostFormValue("batch")
	// The server's own limits are for pages, and a browser that goes away does not part the batch.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(maxApply + time.Minute))
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), maxApply)
	defer cancel()
	if _, busy := h.applying.LoadOrStore(account.ID, true); busy {
		h.failed(w, r, usage.Errorf("Rules are being applied to the mail of %s already: wait until that has ended.",
			account.Email))
		return
	}
	defer h.applying.Delete(account.ID)
	done, err := h.applyRules(ctx, page.of(account, false))
	total := 0
	for _, n := range done.Actions {
		total += n
	}
	switch {
	case err != nil && total > 0:
		h.app.Log.WarnContext(ctx, "rules are applied to old mail in part", "batch", done.Batch, "error", err)
		err = usage.Errorf("It is done in part, for %d actions: go back and press the button again, and it is finished; or "+
			"take back what is done, by its batch among the actions. (%w)", total, err)
	case err == nil && page.Rule == "" && page.Days == 0:
		err = h.app.AskedAboutOldMail(ctx, account.ID)
	}
	if err != nil {
		h.failed(w, r, err)
		return
	}
	of := url.Values{"mailbox": {account.Email}, "batch": {done.Batch}}
	r.PostForm.Set("from", "/actions?"+of.Encode())
	back(w, r, "apply", total)
}
