package app

import (
	"context"
	"encoding/json"

	"github.com/postroom-go/postroom/examples/postroomd/mailarchive"
	"github.com/postroom-go/postroom/examples/postroomd/notify"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/aging"
	"github.com/postroom-go/postroom/gmail/appointments"
	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/gmail/reminders"
	"github.com/postroom-go/postroom/gmail/replies"
	"github.com/postroom-go/postroom/gmail/statistics"
	"github.com/postroom-go/postroom/gmail/voice"
	"github.com/postroom-go/postroom/llm/agent"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/lessons"
	"github.com/postroom-go/postroom/rules/onboarding"
	"github.com/postroom-go/postroom/safety/discord"
	"github.com/postroom-go/postroom/safety/webhook"
	"github.com/postroom-go/postroom/undo"
)

// JobTypes are the types with a handler in this program.
var JobTypes = []string{
	string(gmail.JobBackfill), string(gmail.JobHistorySync), string(gmail.JobLabelsSync), string(gmail.JobIngest),
	string(gmail.JobAction),
	string(outbox.JobSend), string(gmail.JobReconcile), string(gmail.JobWatch), string(gmail.JobUnsnooze),
	string(gmail.JobIndex),
	string(rules.JobClassify), string(rules.JobDecideAgain), string(aging.Job), string(undo.JobAction),
	string(discord.JobNotify),
	string(discord.JobExpire),
	string(discord.JobDigest), string(discord.JobNotice),
	string(webhook.JobDeliver), string(webhook.JobReauthorize), string(webhook.JobNotAsked), string(webhook.JobNotice),
	string(notify.JobNtfy), string(notify.JobWaits), string(notify.JobDigest), string(notify.JobInsert),
	string(replies.JobDraft), string(replies.JobManualDraft), string(replies.JobRework), string(replies.JobCleanup),
	string(drafting.JobLabels), string(drafting.JobCheck), string(drafting.JobFollowUp), string(voice.JobLearn),
	string(agent.JobProcess), string(agent.JobInvocation), string(reminders.JobDelivery), string(onboarding.Job),
	string(enrich.Job), string(appointments.Job), string(lessons.JobLearn), string(jobTeach), string(jobPruneModels),
	string(archive.RunJob), string(archive.VerifyJob), string(archive.RestoreJob), string(archive.UndoRestoreJob),
	string(mailarchive.DueJob), string(statistics.Job),
}

// CheckRetry refuses the job of a failed action: for the ledger that is final.
func (h *App) CheckRetry(ctx context.Context, id string) error {
	job, err := h.Queue.Job(ctx, id)
	if err != nil {
		return err
	}
	if job.Type != string(gmail.JobAction) && job.Type != string(outbox.JobSend) {
		return nil
	}
	var payload gmail.ActionPayload // that of a sending has these fields too
	if err := json.Unmarshal(job.Payload, &payload); err != nil {
		return usage.Errorf("job %s cannot be retried: its payload cannot be read: %w", id, err)
	}
	action, err := h.Ledger.Action(ctx, payload.ActionID)
	if err == nil && action.State.Final() {
		return usage.Errorf("job %s cannot be retried: its action %s is %s for good (%s)", id, action.ID,
			action.State, action.Error)
	}
	return err
}

// The maximum of entries of a listing. Each package has its own bound; other listings have the ledger's.
const (
	MaxListed     = 100
	MaxMailListed = 500
)
