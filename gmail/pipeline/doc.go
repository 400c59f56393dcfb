// Package pipeline assembles the packages that sort mail for a host: gmail, rules, safety, undo and queue, on one
// database, with one registry of actions.
//
//	p, err := pipeline.New(pipeline.Config{DB: db, Clients: clients, Rules: rulesOf})
//	id, err := p.AddAccount(ctx, "ada@example.org")
//	err = p.Run(ctx)
//
// # The way of a message
//
//	push or schedule → history.sync.gmail → ingest.gmail → classify → ledger → action.gmail | outbound.send
//	                                                                        → notify → a person → action.gmail
//
// All but the ledger and the person are jobs, and the completion of each is one transaction with the job that follows.
// Where rules alone decide, ingest does so itself, and there is no classify job. The host's [Config].Notify tells a
// person. The rules decide first, then the model, and then the gate of package safety decides whether a person is
// asked.
//
// # Accounts
//
// A pipeline works for any number of accounts, the tenants of a host. [Pipeline.AddAccount] adds one, before or during
// [Pipeline.Run]. A supervisor sets up each account: it makes the labels that the rules name, stores the rules, lists
// the mail that is there, and sets the schedules. It sets them up side by side and retries those that fail; that one
// account cannot be set up keeps no other waiting. At each start it also retries what an earlier run could not take in.
//
// Until the rules of an account are stored, its mail is taken in and nothing is decided about it: rules of an earlier
// start, or none, would decide what the user does not want. See [Config].Rules.
//
// [Pipeline.RemoveAccount] cancels what waits, and deletes the mail, the schedules and the rules. What was decided and
// done stays on record.
//
// # Learn
//
// With [Config].Learn, what people correct by hand is recorded in the transaction that learns of it: changes of labels
// in Gmail, answers to requests, and undos. Once a week the Lessons of a [Pipeline] propose rules that follow from
// that; see package rules/lessons. Nothing is recorded otherwise.
//
// # Away
//
// With [Config].Outbox, the Away of a [Pipeline] answers mail while the owner of a mailbox is away, besides what rules
// and the model decide about it; see package gmail/away.
//
// # Ways to run
//
// [Pipeline.Run] works until it is stopped. [Pipeline.RunUntilIdle] ends when nothing is left to do, for a program that
// is started by a timer, and for tests. A host with a dispatcher of its own registers the handlers with
// [Pipeline.Register], gives it [Pipeline.Middleware], and runs [Pipeline.Supervise] beside it.
//
// # Parts
//
// The fields of a [Pipeline] are the parts, to be used as their packages say: the ledger lists and answers requests for
// approval, the store of mail searches, the undoer takes back. Each package can also be used alone.
package pipeline
