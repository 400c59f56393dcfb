package web

import (
	"context"
	"net/http"
	"net/url"

	"github.com/postroom-go/postroom/examples/postroomd/web/access"
	"github.com/postroom-go/postroom/internal/webui"
)

// A route is a path with who may use it: whoever has the role for the mailboxes that a request is about.
type route struct {
	pattern string
	role    access.Role
	of      scope
	serve   http.Handler
}

func (h *Handler) routes() []route {
	see, approve, own := access.See, access.Approve, access.Own
	return []route{
		{"GET /{$}", see, h.ofList, h.show(h.today)},
		{"GET /waiting", see, h.ofList, h.show(h.waiting)},
		{"GET /waiting/{id}", see, h.ofAction, h.showOne(h.request)},
		{"GET /waiting/{id}/message.eml", see, h.ofAction, http.HandlerFunc(h.outgoing)},
		{"POST /waiting/answer", approve, h.ofAnswers, http.HandlerFunc(h.answer)},
		{"POST /waiting/instead", approve, h.ofAnswers, http.HandlerFunc(h.instead)},
		{"POST /waiting/edit", approve, h.ofAnswers, http.HandlerFunc(h.editSent)},
		{"POST /waiting/again", approve, h.ofAnswers, http.HandlerFunc(h.askAgain)},
		{"POST /waiting/{id}/renew", approve, h.ofAction, http.HandlerFunc(h.renew)},
		{"POST /tasks/{id}/close", approve, h.ofAction, http.HandlerFunc(h.closeTask)},
		{"GET /mailboxes/{id}/look", see, h.ofAccount, h.showOne(h.firstLook)},
		{"POST /mailboxes/{id}/look", approve, h.ofAccount, http.HandlerFunc(h.lookAgain)},
		{"POST /reminders", approve, h.ofList, http.HandlerFunc(h.addReminder)},
		{"POST /reminders/{id}/snooze", approve, h.ofReminder, http.HandlerFunc(h.snoozeReminder)},
		{"POST /reminders/{id}/cancel", approve, h.ofReminder, http.HandlerFunc(h.cancelReminder)},
		{"GET /actions", see, h.ofList, h.show(h.actions)},
		{"GET /actions/{id}", see, h.ofAction, h.showOne(h.action)},
		{"POST /actions/{id}/undo", approve, h.ofAction, http.HandlerFunc(h.undoOne)},
		{"GET /undo", approve, h.ofList, h.show(h.undoPreview)},
		{"POST /undo", approve, h.ofList, http.HandlerFunc(h.undoAll)},
		{"GET /mail", see, h.ofList, h.show(h.mail)},
		{"GET /mail/act", approve, h.ofList, h.show(h.bulkPreview)},
		{"POST /mail/act", approve, h.ofList, http.HandlerFunc(h.bulkAct)},
		{"GET /mail/ask", approve, h.ofList, h.show(h.askPreview)},
		{"POST /mail/ask", approve, h.ofList, http.HandlerFunc(h.askAll)},
		{"GET /mail/{mailbox}/{id}", see, ofPath, h.showOne(h.message)},
		{"GET /mail/{mailbox}/{id}/html", see, ofPath, http.HandlerFunc(h.mailHTML)},
		{"GET /mail/{mailbox}/{id}/rules", see, ofPath, h.showOne(h.tried)},
		{"GET /mail/{mailbox}/{id}/fix", own, h.ofRulesPath, h.showOne(h.fix)},
		{"POST /mail/{mailbox}/{id}/fix", own, h.ofRulesPath, http.HandlerFunc(h.saveFix)},
		{"POST /mail/{mailbox}/{id}/meaning", approve, ofPath, http.HandlerFunc(h.answerMeaning)},
		{"GET /meaning", see, h.ofList, h.show(h.meaning)},
		{"POST /mail/{mailbox}/{id}/draft", approve, ofPath, http.HandlerFunc(h.askDraft)},
		{"GET /drafts", see, h.ofList, h.show(h.drafts)},
		{"GET /drafts/{mailbox}/{id}", see, ofPath, h.showOne(h.oneDraft)},
		{"POST /drafts/{mailbox}/voice", own, ofPath, http.HandlerFunc(h.editVoice)},
		{"POST /drafts/{mailbox}/voice/rebuild", own, ofPath, http.HandlerFunc(h.rebuildVoice)},
		{"POST /drafts/{mailbox}/{id}/rework", approve, ofPath, http.HandlerFunc(h.reworkDraft)},
		{"POST /drafts/{mailbox}/{id}/send", approve, ofPath, http.HandlerFunc(h.sendDraft)},
		{"POST /drafts/{mailbox}/{id}/discard", approve, ofPath, http.HandlerFunc(h.discardDraft)},
		{"GET /statistics", see, h.ofList, h.show(h.statistics)},
		{"GET /subscriptions", see, h.ofList, h.show(h.subscriptions)},
		{"GET /subscriptions/leave", approve, h.ofList, h.show(h.leavePreview)},
		{"POST /subscriptions/leave", approve, h.ofList, http.HandlerFunc(h.leaveLists)},
		{"POST /subscriptions/block", own, h.ofRulesText, http.HandlerFunc(h.blockList)},
		{"POST /mail/{mailbox}/{id}/run", approve, ofPath, http.HandlerFunc(h.runAgent)},
		{"GET /agents", see, h.ofList, h.show(h.agents)},
		{"POST /agents/{profile}/resume", approve, ofEverything, http.HandlerFunc(h.resumeAgent)},
		{"POST /agents/schedules", own, h.ofList, http.HandlerFunc(h.scheduleAgent)},
		{"POST /agents/schedules/{id}/remove", own, h.ofSchedule, http.HandlerFunc(h.unscheduleAgent)},
		{"GET /agents/runs/{id}", see, h.ofRun, h.showOne(h.run)},
		{"POST /agents/runs/{id}/cancel", approve, h.ofRun, http.HandlerFunc(h.cancelRun)},
		{"POST /agents/runs/{id}/replay", approve, h.ofRun, http.HandlerFunc(h.replayRun)},
		{"POST /mail/{mailbox}/{id}/decide", approve, ofPath, http.HandlerFunc(h.decideAgain)},
		{"POST /stop", approve, ofEverything, http.HandlerFunc(h.stop)},
		{"POST /resume", approve, ofEverything, http.HandlerFunc(h.resume)},
		{"GET /mailboxes", see, ofNothing, h.show(h.mailboxes)},
		{"GET /mailboxes/{id}/archive", see, h.ofAccount, h.showOne(h.archive)},
		{"POST /mailboxes/add", own, ofEverything, http.HandlerFunc(h.addMailbox)},
		{"GET /mailboxes/{id}/away", own, h.ofAccount, h.showOne(h.away)},
		{"POST /mailboxes/{id}/away", own, h.ofAccount, http.HandlerFunc(h.setAway)},
		{"POST /mailboxes/{id}/back", approve, h.ofAccount, http.HandlerFunc(h.endAway)},
		{"POST /mailboxes/{id}/pause", own, h.ofAccount, http.HandlerFunc(h.pauseMailbox)},
		{"POST /mailboxes/{id}/signin", own, h.ofAccount, http.HandlerFunc(h.signInMailbox)},
		{"POST /mailboxes/{id}/now", own, h.ofAccount, http.HandlerFunc(h.doNow)},
		{"POST /mailboxes/{id}/right", own, h.ofAccount, http.HandlerFunc(h.rightAgain)},
		{"GET /mailboxes/{id}/signout", own, h.ofAccount, h.showOne(h.signingOut)},
		{"POST /mailboxes/{id}/signout", own, h.ofAccount, http.HandlerFunc(h.signOutMailbox)},
		{"GET /mailboxes/{id}/remove", own, h.ofAccount, h.showOne(h.removal)},
		{"POST /mailboxes/{id}/remove", own, h.ofAccount, http.HandlerFunc(h.removeMailbox)},
		{"GET /labels", see, h.ofList, h.show(h.labels)},
		{"POST /labels/{mailbox}/{id}", own, ofPath, http.HandlerFunc(h.describeLabel)},
		{"GET /models", see, ofEverything, h.show(h.models)},
		{"POST /models/instructions", own, ofEverything, http.HandlerFunc(h.addInstruction)},
		{"POST /models/instructions/{id}/change", own, ofEverything, http.HandlerFunc(h.changeInstruction)},
		{"POST /models/instructions/{id}/remove", own, ofEverything, http.HandlerFunc(h.removeInstruction)},
		{"GET /models/calls/{id}", see, ofEverything, h.showOne(h.modelCall)},
		{"POST /models/instructions/{id}/enable", own, ofEverything, h.setInstruction(true)},
		{"POST /models/instructions/{id}/disable", own, ofEverything, h.setInstruction(false)},
		{"GET /settings", own, ofEverything, h.show(h.settings)},
		{"POST /settings/tokens", own, ofEverything, http.HandlerFunc(h.addToken)},
		{"POST /settings/tokens/{name}/revoke", own, ofEverything, http.HandlerFunc(h.revokeToken)},
		{"GET /audit", see, ofEverything, h.show(h.audit)},
		{"GET /audit/export", own, ofEverything, http.HandlerFunc(h.exportAudit)},
		{"POST /mailboxes/{id}/resume", own, h.ofAccount, http.HandlerFunc(h.resumeMailbox)},
		{"GET /rules", see, h.ofList, h.show(h.rules)},
		{"GET /rules/{id}", see, h.ofRule, h.showOne(h.rule)},
		{"POST /rules/learned", own, h.ofRulesText, http.HandlerFunc(h.answerLearned)},
		{"POST /rules/learn", own, h.ofRulesText, http.HandlerFunc(h.learnNow)},
		{"POST /rules/bulk", own, h.ofRulesText, http.HandlerFunc(h.countBulk)},
		{"GET /rules/versions", see, h.ofList, h.show(h.versions)},
		{"POST /rules/versions/{number}/restore", own, h.ofVersion, http.HandlerFunc(h.restoreRules)},
		{"GET /rules/edit", own, h.ofRulesText, h.show(h.editor)},
		{"POST /rules/edit", own, h.ofRulesText, http.HandlerFunc(h.edit)},
		{"GET /rules/import", own, h.ofRulesText, h.show(h.importForm)},
		{"POST /rules/import", own, h.ofRulesText, http.HandlerFunc(h.importRules)},
		{"GET /rules/apply", own, h.ofList, h.show(h.applyPreview)},
		{"POST /rules/apply", own, h.ofList, http.HandlerFunc(h.apply)},
		{"GET /rules/form", own, h.ofRulesText, h.show(h.ruleForm)},
		{"POST /rules/form", own, h.ofRulesText, http.HandlerFunc(h.changeRuleForm)},
		{"GET /rules/preview", see, h.ofList, http.HandlerFunc(h.previewRule)},
		{"POST /rules/{id}/enable", own, h.ofRule, h.setEnabled(true)},
		{"POST /rules/{id}/disable", own, h.ofRule, h.setEnabled(false)},
		{"POST /rules/{id}/up", own, h.ofRule, h.moveRule(true)},
		{"POST /rules/{id}/down", own, h.ofRule, h.moveRule(false)},
		{"GET /assistant", own, h.ofRulesText, h.show(h.assistant)},
		{"POST /assistant", own, h.ofRulesText, http.HandlerFunc(h.begin)},
		{"GET /assistant/{session}", own, h.ofSession, h.showOne(h.talk)},
		{"POST /assistant/{session}", own, h.ofSession, http.HandlerFunc(h.goOn)},
		{"POST /assistant/{session}/accept", own, h.ofSession, http.HandlerFunc(h.accept)},
		{"POST /assistant/{session}/drop", own, h.ofSession, http.HandlerFunc(h.drop)},
		{"GET /events", see, h.ofEvents, http.HandlerFunc(h.events)},
		{"GET /static/", see, ofNothing, webui.Static(staticFiles)},
		{"/", see, ofNothing, http.HandlerFunc(h.unknown)},
	}
}

// guarded serves a route to those who may use it. What somebody changes is in the log with their name.
func (h *Handler) guarded(of route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		person := access.From(r.Context())
		var mailboxes []string
		if person.May(of.role) && person.Mailboxes != nil {
			var err error
			if mailboxes, err = of.of(r); err != nil {
				h.failed(w, r, err)
				return
			}
		}
		if !person.May(of.role, mailboxes...) {
			h.refuse(w, r)
			return
		}
		if r.Method == http.MethodPost {
			h.app.Log.InfoContext(r.Context(), "somebody acts on the page", "by", person.Name, "path", r.URL.Path)
		}
		of.serve.ServeHTTP(w, r)
	})
}

func (h *Handler) refuse(w http.ResponseWriter, r *http.Request) {
	if access.From(r.Context()).Role == access.Nobody {
		http.Error(w, access.Refused, http.StatusForbidden) // not even a frame is for them
		return
	}
	h.problem(w, r, http.StatusForbidden, "Not for you", access.Refused)
}

// by is the name that what a request does is recorded with.
func by(r *http.Request) string { return access.From(r.Context()).Name }

// asParam is the parameter of a watched address that names its viewer, so that nobody sees what was made for another.
// Only events sets it.
const asParam = "as"

// watchedBy adds the viewer to the address of a watched page. Parameters that no page reads are left out: each address
// is rendered for itself, and only so many are.
func watchedBy(u *url.URL, p access.Person) {
	query := url.Values{}
	for _, name := range append([]string{"before", "profile", zoneParam}, filterNames...) {
		if value := u.Query().Get(name); value != "" {
			query.Set(name, value)
		}
	}
	if p.Name != access.LocalName {
		query.Set(asParam, p.Name)
	}
	u.RawQuery = query.Encode()
}

// viewer returns a context of who watches an address.
func (h *Handler) viewer(ctx context.Context, u *url.URL) context.Context {
	query := u.Query()
	if !query.Has(asParam) {
		return access.With(ctx, access.Person{Name: access.LocalName, Role: access.Own})
	}
	person, _ := h.people.Of(query.Get(asParam))
	return access.With(ctx, person)
}
