package gmailtest

import (
	"context"
	"regexp"
	"strings"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// maxReferences is the number of references of a message that count, from the last.
const maxReferences = 50

// findThread returns the thread of a message that does not name one: a thread with the same subject that contains the message or
// one that it references, otherwise a new one.
func (a *arrival) findThread(ctx context.Context, tx queue.Tx) (string, error) {
	var threads []string
	if err := dbquery.Select(ctx, tx, &threads, selectThreadOf, a.account, textList(a.references), a.subjectKey); err != nil {
		return "", err
	}
	if len(threads) == 0 {
		return a.id, nil
	}
	return threads[0], nil
}

// checkThread checks the thread in a request, which must exist. A message that does not answer another with the same subject in
// it begins a new thread, as at Gmail.
func (a *arrival) checkThread(ctx context.Context, tx queue.Tx) error {
	if a.threadID == "" || a.keepsThread {
		return nil
	}
	if err := checkID(a.threadID); err != nil {
		return err
	}
	var keys []string
	if err := dbquery.Select(ctx, tx, &keys, selectSubjects, a.account, a.threadID); err != nil {
		return err
	}
	if len(keys) == 0 {
		return wire.NotFound()
	}
	var known []string
	if err := dbquery.Select(ctx, tx, &known, selectReferencesOf, a.account, a.threadID, textList(a.references)); err != nil {
		return err
	}
	if !a.answers || len(known) == 0 || len(without([]string{a.subjectKey}, keys)) > 0 {
		a.threadID = ""
	}
	return nil
}

// answerPrefix matches the usual prefixes of the subject of an answer or a forward in the most frequent languages.
var answerPrefix = regexp.MustCompile(`^(?i:\s*(re|aw|sv|vs|antw|odp|fwd?|wg|tr|rv|enc)(\[\d+\])?\s*[:\x{ff1a}])*\s*`)

// subjectKey returns a key that is equal for the subjects of one thread.
func subjectKey(subject string) string {
	return strings.ToLower(strings.Join(strings.Fields(answerPrefix.ReplaceAllString(subject, "")), " "))
}

func rememberReferences(ctx context.Context, tx queue.Tx, account int64, thread string, references []string) error {
	for _, reference := range references {
		if _, err := tx.ExecContext(ctx, insertReference, account, reference, thread); err != nil {
			return err
		}
	}
	return nil
}
