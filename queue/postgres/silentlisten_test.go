package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/postgres"
)

// A connection that only listens is never told that the other end is gone. Once it is replaced, who listens looks for
// what it has missed.
func TestAListenerNoticesThatItsServerIsGoneWithoutAWord(t *testing.T) {
	proxy, db, _ := silent(t)
	defer func() { require.NoError(t, db.Close()) }()
	postgres.SetListenProbe(db, time.Second)
	ctx, stop := context.WithCancel(t.Context())
	woken, ended := make(chan struct{}, 10), make(chan error, 1)
	go func() { ended <- db.Driver().Listen(ctx, func() { woken <- struct{}{} }) }()
	<-woken // it listens
	proxy.gone.Store(true)
	within(t, func() error {
		<-proxy.unheard // it has asked
		<-proxy.unheard // and tries another connection
		proxy.gone.Store(false)
		<-woken
		return nil
	})
	stop()
	require.NoError(t, <-ended)
}
