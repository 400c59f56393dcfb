package uuid7_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/internal/uuid7"
)

func TestIDsSortByAge(t *testing.T) {
	last := ""
	for range 1000 {
		id, err := uuid7.New()
		require.NoError(t, err)
		require.Len(t, id, 36)
		require.Greater(t, id, last)
		last = id
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("no entropy") }

func TestNoRandomNumbersIsAnError(t *testing.T) {
	uuid.SetRand(broken{})
	t.Cleanup(func() { uuid.SetRand(nil) })
	_, err := uuid7.New()
	require.ErrorContains(t, err, "make an id: no entropy")
}
