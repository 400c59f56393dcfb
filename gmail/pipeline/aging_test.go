package pipeline

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/aging"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/rules/rulesfile"
	"github.com/postroom-go/postroom/safety"
)

const promotions = `labels: [Shops]
rules:
  - name: Clean
    condition: {op: and, children: [{type: sender_domain, value: shop.example}, {type: older_than, value: 30d}]}
    action: trash
  - {name: Shops, condition: {type: sender_domain, value: shop.example}, action: move, parameters: {label: Shops}}
`

// Mail is thrown away when it is old enough, but for what a person has moved back, starred, or taken out of the trash.
func TestMailIsThrownAwayWhenItIsOldEnough(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		now := time.Now()
		file, err := rulesfile.Parse("rules.yaml", strings.NewReader(promotions))
		require.NoError(t, err)
		p := w.pipeline(Config{Now: func() time.Time { return now },
			Rules: func(context.Context, mailstore.Account) (*rulesfile.File, error) { return file, nil }})
		id := w.add(p, ada)
		run := func(after time.Duration) map[string]int {
			t.Helper()
			now = now.Add(after)
			faults, err := p.RunUntilIdle(t.Context())
			require.NoError(t, err)
			require.Empty(t, faults)
			list, err := p.Ledger.Actions(t.Context(), safety.Filter{AccountID: id, Limit: 100})
			require.NoError(t, err)
			done := map[string]int{}
			for _, e := range list {
				require.Equal(t, postroom.ActionCompleted, e.Action.State, e.Action.Error)
				done[string(e.Action.Type)]++
			}
			return done
		}
		for range 4 {
			w.deliver(ada, "From: news@shop.example\r\nSubject: Sale\r\n\r\nBuy.\r\n")
		}
		require.Equal(t, map[string]int{"move": 4}, run(0))
		account, err := w.server.Account(t.Context(), ada)
		require.NoError(t, err)
		person := account.Person()
		var ids []string
		for m, err := range p.Mail.AllMessages(t.Context(), id, mailstore.MessageRange{}) {
			require.NoError(t, err)
			ids = append(ids, m.ProviderID)
		}
		require.NoError(t, person.MoveToInbox(t.Context(), ids[0]))
		require.NoError(t, person.Star(t.Context(), ids[1]))
		require.NoError(t, person.Read(t.Context(), ids[2]))
		require.Equal(t, map[string]int{"move": 4}, run(29*24*time.Hour))
		require.Equal(t, map[string]int{"move": 4, "trash": 2}, run(2*24*time.Hour))
		require.Equal(t, map[string]int{"move": 4, "trash": 2}, run(24*time.Hour))
	})
}

// A dry run leaves to the next start what rules about age have to do.
func TestADryRunAsksNoRulesAboutAge(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		now := time.Now()
		config := func(dry bool) Config {
			return Config{Now: func() time.Time { return now }, Safety: safety.Config{DryRun: dry},
				Rules: func(context.Context, mailstore.Account) (*rulesfile.File, error) {
					return rulesfile.Parse("rules.yaml", strings.NewReader(promotions))
				}}
		}
		p := w.pipeline(config(false))
		id := w.add(p, ada)
		run := func(p *Pipeline) (kinds []postroom.ActionType) {
			t.Helper()
			require.NoError(t, p.Backlog.AskAgain(t.Context()))
			_, err := p.RunUntilIdle(t.Context())
			require.NoError(t, err)
			list, err := p.Ledger.Actions(t.Context(), safety.Filter{AccountID: id, Limit: 100})
			require.NoError(t, err)
			for _, e := range list {
				kinds = append(kinds, e.Action.Type)
			}
			return kinds
		}
		w.deliver(ada, "From: news@shop.example\r\nSubject: Sale\r\n\r\nBuy.\r\n")
		require.Equal(t, []postroom.ActionType{postroom.Move}, run(p))
		now = now.Add(31 * 24 * time.Hour)
		_, err := p.Queue.Enqueue(t.Context(), aging.NewJob(id)) // as one that the last run has left
		require.NoError(t, err)
		require.Equal(t, []postroom.ActionType{postroom.Move}, run(w.pipeline(config(true))))
		require.Equal(t, []postroom.ActionType{postroom.Trash, postroom.Move}, run(w.pipeline(config(false))))
	})
}

// What a rule has decided about as it arrived is known to the job that asks it again.
func TestADecisionAtArrivalIsKnown(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		p := w.pipeline(Config{Rules: archiveAll})
		id := w.add(p, ada)
		w.deliver(ada, "From: news@shop.example\r\nSubject: Sale\r\n\r\nBuy.\r\n")
		_, err := p.RunUntilIdle(t.Context())
		require.NoError(t, err)
		list, err := p.Ledger.Decisions(t.Context(), safety.Filter{AccountID: id, Limit: 1})
		require.NoError(t, err)
		d := list[0].Decision
		msg := &postroom.Message{AccountID: id, ID: list[0].MessageID}
		for version, want := range map[string]bool{d.RuleVersion: true, "another": false} {
			known, err := p.hasDecided(t.Context(), msg, d.RuleID, version)
			require.NoError(t, err)
			require.Equal(t, want, known)
		}
	})
}
