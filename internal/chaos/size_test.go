package chaos

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/dbtest"
)

const (
	// messagesEnv names the environment variable with the number of messages. Without it the tests are small.
	messagesEnv = "POSTROOM_TEST_CHAOS"
	// seedEnv names the environment variable with the first seed. Without it small tests begin with the seed 1, and
	// others with a new one each time.
	seedEnv = "POSTROOM_TEST_SEED"
	// seedsEnv names the environment variable with the number of seeds of those tests that take several. Without it they
	// take three when they are small, and one if the first is given, which repeats it.
	seedsEnv = "POSTROOM_TEST_SEEDS"

	messagesOfMailbox = 200 // when there are many
	smallSeeds        = 3
)

// A size is how much a test does.
type size struct {
	messages, mailboxes int
	kills               int // in each act
	seed                uint64
}

// once is the small size of a test that takes one seed.
var once = size{messages: 66, mailboxes: 3, kills: 3}

// sizeOf returns the size that the environment asks for, or else the small one.
func sizeOf(t *testing.T, small size) size {
	t.Helper()
	s := small
	s.seed = 1
	if n := number(t, messagesEnv); n > 0 {
		s.messages, s.mailboxes, s.kills = n, max(1, n/messagesOfMailbox), 10+n/200
	}
	if number(t, messagesEnv)+number(t, seedsEnv) > 0 {
		s.seed = uint64(time.Now().UnixNano())
	}
	if n := number(t, seedEnv); n > 0 {
		s.seed = uint64(n)
	}
	return s
}

func number(t *testing.T, name string) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, "%s is a number", name)
	return n
}

// seedsOf returns how many seeds a test takes that takes several, large ones when the environment says nothing.
func seedsOf(t *testing.T, large int) int {
	t.Helper()
	switch n := number(t, seedsEnv); {
	case n > 0:
		return n
	case number(t, seedEnv) > 0:
		return 1
	case number(t, messagesEnv) > 0:
		return large
	}
	return smallSeeds
}

// eachSeed runs the test on each database with several seeds, one after the other. The log of one that fails says how
// to repeat it, as far as the times at which processes are killed allow.
func eachSeed(t *testing.T, s size, seeds int, fn func(t *testing.T, database string, s size)) {
	t.Parallel() // most of it waits
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i := range uint64(seeds) {
				each := s
				each.seed += i
				t.Run(fmt.Sprint("seed ", each.seed), func(t *testing.T) {
					t.Logf("%d messages, %d mailboxes, %s=%d", each.messages, each.mailboxes, seedEnv, each.seed)
					fn(t, database(t), each)
				})
			}
		})
	}
}

// eachDatabase runs the test once on each database.
func eachDatabase(t *testing.T, fn func(t *testing.T, database string)) {
	t.Parallel() // most of it waits
	for name, database := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fn(t, database(t))
		})
	}
}

// databases are a new SQLite file and a new schema on PostgreSQL.
var databases = map[string]func(t *testing.T) string{
	"sqlite":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "postroom.db") },
	"postgres": func(t *testing.T) string { return dbtest.PostgresDSN(t) },
}
