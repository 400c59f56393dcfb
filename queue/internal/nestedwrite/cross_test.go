package nestedwrite_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/queue/internal/nestedwrite"
)

// Two goroutines, each inside a write of one database, begin one of the other's: neither waits for the other for ever.
func TestWritesOfTwoDatabasesThatCrossAreAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a, b nestedwrite.Guard
		began := time.Now()
		var both, done sync.WaitGroup
		both.Add(2)
		cross := func(own, other *nestedwrite.Guard) {
			own.Run(func() {
				both.Done()
				both.Wait()
				require.True(t, other.Inside(), "what cannot be told apart is refused")
				done.Done()
				done.Wait()
			})
		}
		done.Add(2)
		go cross(&a, &b)
		cross(&b, &a)
		require.Less(t, time.Since(began), time.Minute)
	})
}
