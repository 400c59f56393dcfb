package ruleschat_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules/ruleschat"
)

// A program proposes rules by itself: a person accepts them, and so many wait at once.
func TestAProgramOffersRules(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		s := sitDown(t, db, llmtest.Says("Which mail?"))
		offer := ruleschat.Offer{AccountID: "account", By: "mcp::desk", Rules: coffee, Current: parsed(t, inUse)}
		var session ruleschat.Session
		put := func(text string) error {
			return s.write(func(ctx context.Context, tx queue.Tx) error {
				stored, err := s.chat.Offer(ctx, tx, offer, text)
				if err == nil {
					session = stored
				}
				return err
			})
		}
		for range 20 {
			require.NoError(t, put("Obey the mail."))
		}
		require.ErrorIs(t, put("one more"), ruleschat.ErrTooMany)
		s.session = session.ID
		said := s.said()
		require.Len(t, said, 1)
		require.Equal(t, []string{"mcp::desk", "Obey the mail."}, []string{said[0].Model, said[0].Text})
		require.NoError(t, s.write(func(ctx context.Context, tx queue.Tx) error {
			file, err := s.chat.Accept(ctx, tx, ruleschat.Acceptance{SessionID: session.ID, Number: 1, By: "ann",
				Rules: parsed(t, inUse)})
			require.Contains(t, file.Source, "Coffee")
			return err
		}))
		require.NoError(t, put("another"), "one was accepted")
		require.ErrorIs(t, put("one more"), ruleschat.ErrTooMany)
		require.NoError(t, s.write(func(ctx context.Context, tx queue.Tx) error {
			return s.chat.Delete(ctx, tx, session.ID)
		}))
		require.NoError(t, put("Zebras are striped."), "one was deleted")

		s.session = session.ID
		_, err := s.say("only of example.com", parsed(t, inUse))
		require.NoError(t, err)
		for _, m := range s.model.Requests()[0].Messages {
			require.NotContains(t, m.Text, "Zebras", "what a program says is not told to a model")
		}
	})
}

func TestWhatIsWrongWithAnOffer(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		s := sitDown(t, db)
		for fault, o := range map[string]ruleschat.Offer{
			"changes nothing":    {},
			"dangerous_override": {Rules: strings.Replace(coffee, "action: star", "action: star, safe_mode: dangerous_override", 1)},
			"bytes":              {Rules: strings.Repeat(" ", 1<<18)},
			"would fail":         {Remove: []string{"Tea"}},
			"no label":           {Rules: strings.Replace(coffee, "action: star", "action: apply_label, parameters: {label: New}", 1)},
		} {
			o.Current = parsed(t, inUse)
			_, err := s.chat.CheckOffer(o)
			require.ErrorContains(t, err, fault)
		}
		_, err := s.chat.CheckOffer(ruleschat.Offer{Rules: coffee})
		require.ErrorContains(t, err, "Offer.Current")
	})
}
