// Package onboarding takes a first look at a mailbox: a job reads its newest messages, counts them by sender, mailing
// list and kind, and suggests labels and rules. It asks no model, changes nothing and applies nothing: a person reads
// the [Report], and adds the rules that they like.
//
//	service, err := onboarding.New(onboarding.Config{DB: db, Queue: q, Messages: newest, Labels: labels, Rules: rules})
//	err = service.Register(dispatcher)
//	err = db.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return service.Start(ctx, tx, accountID) })
//	report, err := service.Report(ctx, accountID)
//
// # What is suggested
//
// Mail of one list, or of one sender who is no person (newsletters, and messages that a program sends), of which there
// are at least five: a rule that labels it, and does nothing else. Where the owner has labelled four fifths of such
// mail already, it is the owner's label; otherwise a new one. A rule about a sender is suggested only where the server
// has verified nearly all of the mail, and then holds for verified mail alone: everybody can write a From. What a rule
// of the owner decides about by the same condition is left out. At most [MaxRules], those about the most mail first.
//
// [Look] is the same without a queue or a database, on any messages.
package onboarding
