package enrich_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/lessons"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// A simulated person corrects twenty messages a week by hand for almost a year, three in a hundred of them wrongly.
const (
	aWeek     = 20
	weeks     = 50
	slips     = 3 // of a hundred
	learnedIn = account
)

// A taught state is what was learned so far.
type taught struct {
	rules []rules.Rule
	mails int // that the person got meanwhile
}

// A pupil is a mailbox whose owner labels mail with the names of a stage, and what is learned of that.
type pupil struct {
	testing.TB
	rng   *rand.Rand
	db    queue.DB
	store *lessons.Store
	stage enrich.Stage
	names []string
	mail  []*postroom.Message
	byID  map[string]*postroom.Message
	rules []rules.Rule // that the person has accepted
}

// teach returns the rules that a person has accepted after no corrections, 100 and 1,000. The person gets the messages
// again and again, with other numbers in their subjects, as their senders would write them in the year before; gives
// those a label by judge A of which said has no answer or a wrong one; and leaves the others in the inbox, read.
func teach(t *testing.T, list []judged, said []answer, stage enrich.Stage, names []string) []taught {
	t.Helper()
	p := newPupil(t, stage, names)
	states := []taught{{}}
	for week := range weeks {
		p.week(list, said, before.AddDate(0, 0, 7*(week-weeks)))
		if n := aWeek * (week + 1); n == 100 || n == 1000 {
			states = append(states, taught{slices.Clone(p.rules), len(p.mail)})
		}
	}
	return states
}

func newPupil(t *testing.T, stage enrich.Stage, names []string) *pupil {
	t.Helper()
	p := &pupil{TB: t, rng: rand.New(rand.NewPCG(26, 300)), db: queuetest.New(t).DB(), stage: stage, names: names,
		byID: map[string]*postroom.Message{}}
	require.NoError(t, lessons.Migrate(t.Context(), p.db))
	var err error
	p.store, err = lessons.New(lessons.Config{DB: p.db, Mail: p,
		Account: func(context.Context, string) (lessons.Account, error) { return p.account(), nil },
		Rules:   func(context.Context, string) ([]rules.Rule, error) { return slices.Clone(p.rules), nil },
		Labels: func(context.Context, string) (list []postroom.Label, err error) {
			for _, name := range names {
				list = append(list, postroom.Label{ID: labelOf(name), Name: name})
			}
			return list, nil
		}})
	require.NoError(t, err)
	return p
}

func (p *pupil) account() lessons.Account { return lessons.Account{ID: learnedIn, Email: sample.Owner} }

func labelOf(name string) string { return "Label_" + name }

func (p *pupil) Message(_ context.Context, _, id string) (*postroom.Message, error) {
	if m := p.byID[id]; m != nil {
		return m, nil
	}
	return nil, postroom.ErrNotFound
}

func (p *pupil) Messages(_ context.Context, _ string, since time.Time) iter.Seq2[*postroom.Message, error] {
	return func(yield func(*postroom.Message, error) bool) {
		for _, m := range p.mail {
			if !m.ReceivedAt.Before(since) && !yield(m, nil) {
				return
			}
		}
	}
}

// week has the person get mail from a day on until twenty messages were corrected, and accept what is proposed then.
func (p *pupil) week(list []judged, said []answer, from time.Time) {
	p.Helper()
	var corrected []*postroom.Message
	for len(corrected) < aWeek {
		i := p.rng.IntN(len(list))
		msg := p.receive(list[i].msg, from.Add(time.Duration(p.rng.IntN(7*24*60))*time.Minute))
		if wanted := list[i].a.of(p.stage); said[i].of(p.stage) != wanted {
			if p.rng.IntN(100) < slips {
				wanted = p.names[p.rng.IntN(len(p.names))]
			}
			msg.LabelIDs = append(msg.LabelIDs, labelOf(wanted))
			corrected = append(corrected, msg)
		}
	}
	at := from.AddDate(0, 0, 7)
	p.correct(corrected, at)
	_, err := p.store.Run(p.Context(), p.account(), at)
	require.NoError(p, err)
	p.accept()
}

var digit = regexp.MustCompile(`\d`)

// receive puts a message like another into the inbox, read.
func (p *pupil) receive(like *postroom.Message, at time.Time) *postroom.Message {
	msg := *like
	msg.ID = fmt.Sprintf("%s again %d", like.ID, len(p.mail))
	msg.ThreadID, msg.AccountID, msg.ReceivedAt, msg.LabelIDs = msg.ID, learnedIn, at, []string{postroom.LabelInbox}
	msg.Subject = digit.ReplaceAllStringFunc(like.Subject, func(string) string { return strconv.Itoa(p.rng.IntN(10)) })
	p.mail, p.byID[msg.ID] = append(p.mail, &msg), &msg
	return &msg
}

// correct has the person give the messages their labels in the day before an instant, one each half hour.
func (p *pupil) correct(list []*postroom.Message, until time.Time) {
	p.Helper()
	require.NoError(p, p.db.Write(p.Context(), func(ctx context.Context, tx queue.Tx) error {
		for i, msg := range list {
			change := lessons.Change{AccountID: learnedIn, MessageID: msg.ID, Labels: postroom.NewSnapshot(msg.LabelIDs),
				Change: postroom.LabelChange{Add: msg.LabelIDs[1:]}}
			if err := p.store.LabelsChanged(ctx, tx, change); err != nil {
				return err
			}
			at := dbtime.Of(until.Add(time.Duration(i-len(list)) * 30 * time.Minute))
			if _, err := dbquery.Exec(ctx, tx, "UPDATE feedback SET created_at = $1 WHERE message_id = $2", at,
				msg.ID); err != nil {
				return err
			}
		}
		return nil
	}))
}

// accept has the person accept all rules that are proposed.
func (p *pupil) accept() {
	p.Helper()
	learned, err := p.store.Learned(p.Context(), learnedIn)
	require.NoError(p, err)
	for _, r := range learned {
		if r.State != lessons.Proposed {
			continue
		}
		require.NoError(p, p.db.Write(p.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := p.store.Accept(ctx, tx, r.ID, "robin")
			return err
		}))
		file, err := rulesfile.Parse("learned.yaml", strings.NewReader(r.Text))
		require.NoError(p, err)
		p.rules = append(p.rules, file.For(learnedIn, sample.Owner).Rules...)
	}
}
