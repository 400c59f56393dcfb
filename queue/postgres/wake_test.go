package postgres

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A server that is gone is told no more than what was under way when Close was called, and what came since.
func TestCloseGivesUpNewsThatCannotBeSent(t *testing.T) {
	for range 50 { // what is chosen of what is ready is chance
		synctest.Test(t, func(t *testing.T) {
			const patience = time.Minute
			sends := 0
			n := startNews(func(string) error {
				sends++
				time.Sleep(patience)
				return errors.New("the server does not answer")
			})
			n.freshen()
			synctest.Wait()
			n.freshen()
			began := time.Now()
			n.close()
			require.LessOrEqual(t, time.Since(began), 2*patience)
			require.Equal(t, 2, sends)
		})
	}
}

func TestNewsThatCouldNotBeSentIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sends := 0
		n := startNews(func(string) error {
			if sends++; sends < 5 {
				return errors.New("the connection is lost")
			}
			return nil
		})
		n.freshen()
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, 5, sends)
		n.close()
		require.Equal(t, 5, sends)
	})
}
