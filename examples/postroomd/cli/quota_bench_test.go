package cli

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/printer"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/rules/rulesfile"
)

// BenchmarkBackfillWithinQuota sorts a mailbox whose Gmail keeps to the quota that new projects get, and looks at the
// third and the fourth minute: the first begins with what may be spent at once. It fails below 95 % of the quota, and
// when a call is refused. The same is promised of the budget alone, in virtual time, by
// TestAnyMinuteIsWithinTheBudget of package gmail. Run it with -benchtime 1x; it takes four minutes.
func BenchmarkBackfillWithinQuota(b *testing.B) {
	const perMinute = 6000
	dir := environment.Folder(b.TempDir())
	deliver(b, dir, sampleLetters(b), 1600)
	server, err := gmailtest.Open(b.Context(), gmailtest.Config{
		Dir: dir.Gmail(), Email: sample.Owner, Quota: gmailtest.Quota{PerMinute: perMinute, Concurrent: 50},
	})
	require.NoError(b, err)
	h := benchHost(b, dir, server.URL(), perMinute)
	file, err := rulesfile.ParseFile("../config/rules.yaml", rulesfile.WithKinds(environment.Kinds))
	require.NoError(b, err)
	run := app.NewOneRun(h, file, printer.NewProgress(io.Discard))

	ctx, cancel := context.WithCancel(b.Context())
	sorting := make(chan error, 1)
	go func() { sorting <- run.Run(ctx) }()
	time.Sleep(2 * time.Minute)
	before, began := server.Units(), time.Now()
	time.Sleep(2 * time.Minute)
	spent, minutes := server.Units()-before, time.Since(began).Minutes()

	refused := 0
	for _, call := range server.Calls() {
		if call.Status == http.StatusTooManyRequests || call.Status == http.StatusForbidden {
			refused++
		}
	}
	select {
	case err := <-sorting:
		b.Fatal("all is sorted already; nothing was measured:", err)
	default:
		cancel()
		<-sorting
	}
	require.NoError(b, h.Close())
	require.NoError(b, server.Close())
	used := 100 * float64(spent) / (minutes * perMinute)
	require.GreaterOrEqual(b, used, 95.0, "percent of the quota in the steady state")
	require.Zero(b, refused, "calls that Gmail refused")
	b.ReportMetric(used, "%-of-quota")
	b.ReportMetric(float64(refused), "refused")
	b.ReportMetric(float64(server.Counts()[gmailtest.MessagesGet]), "gets")
}
