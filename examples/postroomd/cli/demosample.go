package cli

import (
	"context"
	"errors"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/mailsource"
	"github.com/postroom-go/postroom/examples/postroomd/scripted"
	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/llm/agent"
)

// giveAgents gives a demo of the sample its agent, before the folder's configuration is read.
func giveAgents(f environment.Folder, from *mailsource.Source) error {
	if !from.IsSample() {
		return nil
	}
	return scripted.WriteProfiles(f.Agents())
}

// withLists adds mailing lists that are hardly read to the sample, for the pages that are about them.
func (d *demoRun) withLists(source mailbox.Source) mailbox.Source {
	if !d.from.IsSample() {
		return source
	}
	if !d.day.IsZero() {
		return sample.WithSchool(d.day)
	}
	return sample.WithLists()
}

// sampleMessage finds a message of the sample by its Message-ID; nil if it is not there, or the mailbox is another one.
func (d *demoRun) sampleMessage(ctx context.Context, messageID string) (*postroom.Message, error) {
	if !d.from.IsSample() {
		return nil, nil //nolint:nilnil // documented
	}
	found, err := d.App.Mail.Search(ctx, d.Mailboxes[0], mailindex.Search{Query: "rfc822msgid:" + messageID, Limit: 1})
	if err != nil || len(found.Messages) == 0 {
		return nil, err
	}
	return found.Messages[0], nil
}

// haveAgentWork has the demo's agent work on a message of the sample, once, as a rule would have it.
func (d *demoRun) haveAgentWork(ctx context.Context) error {
	msg, err := d.sampleMessage(ctx, scripted.AgentReads)
	if err != nil || msg == nil || d.App.Agents.Check(scripted.Household) != nil { // a person may have removed the profile
		return err
	}
	d.Progress.Sayf("%s", scripted.AgentNote)
	done, err := d.App.Agents.Runs(ctx, agent.Filter{AccountID: msg.AccountID, MessageID: msg.ID, Limit: 1})
	if err != nil || len(done) > 0 {
		return err
	}
	_, err = d.App.Queue.Enqueue(ctx, agent.NewJob(msg, scripted.Household))
	return errors.Join(err, d.App.RunJobs(ctx))
}
