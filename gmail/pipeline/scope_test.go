package pipeline

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

const twoMailboxes = `rules:
  - {name: Ada, scope: account, scope_ref: Ada@Example.org, condition: {type: is_reply},
     action: move, parameters: {label: Replies}}
  - {name: Bob, scope: account, scope_ref: BOB, condition: {type: sender_domain, value: shop.example}, action: star}
  - {name: All, condition: {type: sender_domain, value: shop.example}, action: archive}
`

// A rule of another mailbox is left out, whether the file names it by its address or its id, and keeps nobody waiting.
func TestARuleOfAnotherMailboxIsLeftOut(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		var file *rulesfile.File
		p := w.pipeline(Config{Rules: func(context.Context, mailstore.Account) (*rulesfile.File, error) { return file, nil }})
		idOfAda, idOfBob := w.add(p, ada), w.add(p, bob)
		text := strings.NewReplacer("Ada@Example.org", strings.ToUpper(ada), "BOB", idOfBob).Replace(twoMailboxes)
		var err error
		file, err = rulesfile.Parse("rules.yaml", strings.NewReader(text))
		require.NoError(t, err)
		w.deliver(ada, "From: news@shop.example\r\nSubject: Re: Sale\r\nIn-Reply-To: <1@b.example>\r\n\r\nBuy.\r\n")
		w.deliver(bob, "From: news@shop.example\r\nSubject: Re: Sale\r\nIn-Reply-To: <1@b.example>\r\n\r\nBuy.\r\n")
		faults, err := p.RunUntilIdle(t.Context())
		require.NoError(t, err)
		require.Empty(t, faults)
		require.Equal(t, "move", w.action(p, idOfAda))
		require.Equal(t, "star", w.action(p, idOfBob))
		labels, err := p.Mail.Labels(t.Context(), idOfBob)
		require.NoError(t, err)
		for _, l := range labels {
			require.NotEqual(t, "Replies", l.Name, "a label that only ada's rule names")
		}
		require.Equal(t, text, file.Source)
		require.Len(t, file.Rules, 3, "the file of the host stays as it is")
	})
}

// Why a mailbox is not set up is on record until it is.
func TestTheFaultOfAMailboxIsOnRecord(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		fault := errors.New("the rules of ada cannot be read")
		p := w.pipeline(Config{Rules: func(_ context.Context, a mailstore.Account) (*rulesfile.File, error) {
			if a.Email == ada {
				return nil, fault
			}
			return nil, nil
		}})
		ids := []string{w.add(p, ada), w.add(p, bob)}
		recorded := func() (texts []string) {
			for _, id := range ids {
				a, err := p.Mail.Account(t.Context(), id)
				require.NoError(t, err)
				texts = append(texts, a.SetupError)
			}
			return texts
		}
		_, err := p.RunUntilIdle(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{fault.Error(), ""}, recorded())
		stop := w.run(p)
		w.eventually(func() bool { return strings.Contains(recorded()[0], "ada") && recorded()[1] == "" })
		stop()
		fault = nil
		_, err = p.RunUntilIdle(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"", ""}, recorded())
	})
}
