package pipeline

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// The host is told of the rules whose label was deleted at Gmail, once they are disabled.
func TestTheHostIsToldOfRulesWithoutTheirLabel(t *testing.T) {
	onBoth(t, func(t *testing.T, w *world) {
		var told []string
		p := w.pipeline(Config{RulesDisabled: func(_ context.Context, _ queue.Tx, account string, list []rules.Rule) error {
			for i := range list {
				told = append(told, account+" "+list[i].Name)
				require.False(t, list[i].Enabled)
				require.NotEmpty(t, list[i].DisabledReason)
			}
			return nil
		}})
		id := w.add(p, ada)
		mailbox, err := w.server.Account(t.Context(), ada)
		require.NoError(t, err)
		require.NoError(t, mailbox.CreateLabels(t.Context(), "Tea"))
		sync := func() {
			_, err := p.Queue.Enqueue(t.Context(), gmail.NewLabelsSyncJob(id))
			require.NoError(t, err)
			require.NoError(t, p.RunJobs(t.Context()))
		}
		sync()
		file, err := rulesfile.Parse("rules.yaml", strings.NewReader(labels))
		require.NoError(t, err)
		require.NoError(t, p.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := p.Rules.ImportFile(ctx, tx, id, file.ImportSource())
			return err
		}))
		sync()
		require.Empty(t, told)
		require.NoError(t, mailbox.Person().DeleteLabel(t.Context(), "Tea"))
		sync()
		sync()
		require.Equal(t, []string{id + " Tea"}, told)
	})
}
