// Package agent lets a language model work on one message within bounds: it reads with the tools of a profile and ends
// with exactly one outcome, such as a draft, which the safety gate judges like every other decision of a model.
//
//	profiles, err := agent.ReadProfiles(os.DirFS("agents"))
//	a, err := agent.New(agent.Config{DB: db, Ledger: ledger, Kinds: kinds, Mail: store, Profiles: profiles, …})
//	err = agent.Register(dispatcher, a)
//	_, err = q.Enqueue(ctx, agent.NewJob(msg, "support"))
//
// # Types
//
//   - A [Profile] is a file: the model, the owner's instructions, the tools and the outcomes that are allowed, and the
//     [Limits]. [ReadProfile] reads it strictly.
//   - A [Tool] is a typed Go function with a declared danger. The box has [ReadThread], [SearchMail], [OwnAnswers],
//     [ReadFiles] and [ListLabels]; a host adds its own with [NewTool].
//   - An [Outcome] is how a run ends. It becomes a [postroom.Decision] of a model.
//   - A [Run] is the record of one run, with its [Step]s. [Agent.Runs] and [Agent.Run] read them, [Agent.Cancel] ends
//     one, and [Agent.Replay] repeats one with another model and carries nothing out. A host calls [Agent.Settle] and
//     [Agent.Prune] now and then.
//
// # Schedules
//
// [Agent.SetSchedule] has a profile tell the owner something by a cron expression: the job agent_invocation begins a
// run as below, reads [Config].Material, asks the model for a text without tools, and gives it to [Config].Told in the
// transaction that completes the job. Such a run proposes nothing. The limits of the profile hold, but that of a
// thread.
//
// # The way of a run
//
//	job agent_process
//	 → begin     the run is recorded, unless the profile is paused or a limit of the day or the thread is reached
//	 → prepare   the thread is read: visible text without quotations, names of attachments, numbered participants
//	 → reading   one call of the model without tools: intent, questions, dates and numbers, by a schema
//	 → loop      calls of the model and of tools, until one outcome is given that keeps the rules below
//	 → outcome   the ledger records the decision in the transaction that completes the job
//
// Every call of the model and of a tool is a step of the job. A crash repeats the call that was under way and no
// other; a client of type llm.Metered keeps its answer as well. A rate limit or a spent budget defers the job.
//
// A bound that is reached ends the run, and so does a model that refuses: the outcome is then escalate, if the profile
// allows it, else none, with the bound as the reason. A run fails if its job does. Some failures in a row, three by
// default, pause the profile until [Agent.Resume].
//
// # What is trusted
//
// Strangers write mail, and a model may do what the mail says. The bounds do not depend on the model:
//
//   - No tool takes an address or a link: such arguments are refused before the tool is called. Recipients are numbers
//     of participants of the thread, and nothing is fetched from the network.
//   - Of the thread, the run knows what the sender of the message has written or got: a stranger can write into a
//     thread. A message whose sender is not verified is answered to that sender alone.
//   - SearchMail and OwnAnswers know one correspondent, the sender of the message, whatever the query says. Without a
//     sender that the server has verified they are not offered. After such a tool an answer can go to that
//     correspondent alone.
//   - The texts of an outcome hold no link or address but those of the owner's files and answers, and addresses of
//     participants.
//   - All that strangers wrote stands between two lines with a mark that is random for each run, as in package decide.
//   - No tool is dangerous: [New] refuses it. What cannot be undone is an outcome, and passes the gate.
//   - The decision has the source llm, and no rule and no safe mode. A person is asked about whatever the policy does
//     not leave to models: Policy.ModelUnattended of package safety has no drafts, notes and tasks by default.
package agent
