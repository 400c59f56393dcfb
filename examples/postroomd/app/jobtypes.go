package app

import (
	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/safety/discord"
	"github.com/postroom-go/postroom/safety/webhook"
	"github.com/postroom-go/postroom/undo"
)

// JobTypes are the types with a handler in this program.
var JobTypes = []string{
	string(gmail.JobBackfill), string(gmail.JobHistorySync), string(gmail.JobLabelsSync), string(gmail.JobIngest), string(gmail.JobAction),
	string(gmail.JobOutboundSend), string(gmail.JobReconcile), string(gmail.JobWatch), string(gmail.JobUnsnooze), string(gmail.JobIndex),
	string(rules.JobClassify), string(undo.JobAction), string(discord.JobNotify), string(discord.JobExpire), string(discord.JobDigest),
	string(webhook.JobDeliver), string(jobPruneModels),
}
