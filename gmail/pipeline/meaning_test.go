package pipeline

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/safety"
)

// meanings are what is known of all mail.
type meanings struct {
	mu    sync.Mutex
	known rules.Meaning
}

func (m *meanings) Meaning(context.Context, *postroom.Message) (rules.Meaning, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known, nil
}

const byTopic = `rules:
  - {name: Work, condition: {type: topic, value: work}, action: star, stop: false}
  - {name: Shops, condition: {type: sender_domain, value: shop.example}, action: archive}
`

func topicRules(context.Context, mailstore.Account) (*rulesfile.File, error) {
	return rulesfile.Parse("rules.yaml", strings.NewReader(byTopic))
}

// What was decided about new mail is told in the transaction that records it. A rule that asks what mail means decides
// when that is known, once, and in no dry run.
func TestRulesDecideWhenItIsKnownWhatMailMeans(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		known, told := &meanings{}, []*postroom.Message{}
		fails := errors.New("the row cannot be written")
		cfg := Config{Rules: topicRules, Meanings: known,
			OnDecided: func(_ context.Context, _ queue.Tx, msg *postroom.Message, decided []postroom.Decision) error {
				require.Equal(t, "Shops", decided[0].RuleName)
				if err := fails; err != nil {
					fails = nil
					return err
				}
				told = append(told, msg)
				return nil
			}}
		p := w.pipeline(cfg)
		id := w.add(p, ada)
		w.deliver(ada, "From: a@shop.example\r\nSubject: Sale\r\n\r\nBuy.\r\n")
		run := func(p *Pipeline) (kinds []postroom.ActionType) {
			t.Helper()
			_, err := p.RunUntilIdle(t.Context())
			require.NoError(t, err)
			for _, e := range w.actions(p, id) {
				kinds = append(kinds, e.Action.Type)
			}
			return kinds
		}
		require.Equal(t, []postroom.ActionType{postroom.Archive}, run(p))
		require.Len(t, told, 1, "an error rolls back, and is tried again")

		stored := func() *postroom.Message {
			msg, err := p.Mail.Message(t.Context(), id, told[0].ID)
			require.NoError(t, err)
			return msg
		}
		require.NoError(t, p.DecideMeant(t.Context(), stored()))
		require.Equal(t, []postroom.ActionType{postroom.Archive}, run(p))
		known.known.Topic = "work"
		cfg.Safety = safety.Config{DryRun: true}
		require.NoError(t, w.pipeline(cfg).DecideMeant(t.Context(), stored()))
		trashed := *stored()
		trashed.LabelIDs = []string{postroom.LabelTrash}
		require.NoError(t, p.DecideMeant(t.Context(), &trashed))
		require.Equal(t, []postroom.ActionType{postroom.Archive}, run(p))
		for range 2 {
			require.NoError(t, p.DecideMeant(t.Context(), stored()))
			require.Equal(t, []postroom.ActionType{postroom.Star, postroom.Archive}, run(p))
		}
	})
}

// Without who knows what mail means, a rule that asks for it is disabled, and the others decide.
func TestRulesAboutAMeaningNeedWhoKnowsIt(t *testing.T) {
	w := newWorld(t)
	p := w.pipeline(Config{Rules: topicRules})
	id := w.add(p, ada)
	w.deliver(ada, "From: a@shop.example\r\nSubject: Sale\r\n\r\nBuy.\r\n")
	_, err := p.RunUntilIdle(t.Context())
	require.NoError(t, err)
	require.Equal(t, "archive", w.action(p, id))
	list, err := p.Rules.ListOf(t.Context(), id)
	require.NoError(t, err)
	require.False(t, list[0].Enabled)
	require.Contains(t, list[0].DisabledReason, rules.ErrNoMeanings.Error())
}
