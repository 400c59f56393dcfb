// Package enrich finds out what mail means: its category, its importance with what it asks its reader to do, its
// appointments, and how to leave its list.
//
//	service, err := enrich.New(enrich.Config{Queue: q, Messages: store, Model: decider})
//	err = service.Register(dispatcher)
//	// in the transaction that records what was decided about a message:
//	err = service.Arrived(ctx, tx, msg, decision.Enrichment)
//	// later:
//	list, err := service.List(ctx, enrich.Filter{AccountID: id, Level: "high"})
//
// # One job for each message
//
// [Service.Arrived] makes the one row of a message, in the table enrichments, and enqueues its [Job]. The job ends the
// stages that are open, in the order of [Stages], each as a step that is stored together with the row: after a crash
// the next attempt goes on with the stage that was next, and asks nobody twice. The [State] of the row says how far it
// is:
//
//	fetched → processing → categorized → importance_checked → calendar_extracted → enriched
//	        → completed | pending_approval | dead_letter
//
// A stage that fails for good, such as a calendar that cannot be had any more, is on record with its reason and leaves
// the others alone.
//
// # Cheap first
//
// Most mail needs no model. Each stage is told by the first of these who can: the host ([Config].First), the [Form] of
// the mail, a calendar in it, the model. The form is what header fields, Gmail's categories and the sent mail show;
// the owner's categories say which forms belong to them. Forms are claims of senders. They are good enough to sort
// mail, and nothing here is good enough to trust it.
//
// What is left open is asked in one call. If a model is also to decide about the message, that is the call in which it
// decides: give [Service.Question] to decide.Config and the answer, [postroom.Decision].Enrichment, to Arrived.
// Otherwise the job makes the call, by [Config].Model. One call is about one message: text of one mail never stands in
// a prompt that is about another. What a model says is checked against the owner's lists and bounds, and given back to
// it if it is wrong.
//
// # What is unsure
//
// A result below [Config].SureFrom is stored, marked as unsure, and holds nothing up. Whoever likes to answers it:
// [Filter].Unsure lists them, [Service.Answer] takes it as it is, replaces it, or rejects it. After a rejection the
// model is asked once more, with the person's reason; after a second one nothing is known. [Enrichment.Stands] says
// whether a result is one to act on.
//
// # What follows
//
// [Config].OnEnded is called when all stages have ended, and after each answer of a person, so that rules can decide by
// what is known by then, in the transaction that ends the job.
package enrich
