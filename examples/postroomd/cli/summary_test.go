package cli

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What is new is what was taken in, also beside what is deleted meanwhile and what is deleted as soon as it comes.
func TestTheSummaryCountsWhatIsNew(t *testing.T) {
	const letters = 3
	var mail []string
	for n := range letters {
		mail = append(mail, letterNamed(n))
	}
	m := newTeatime(t, "{action: delete, safe_mode: dangerous_override}", "", mail...)
	s := runOnce(t, m.where...)
	require.Equal(t, []int{0, letters}, []int{s.Messages, s.New}, "the rule deletes all of it")
	require.Zero(t, runOnce(t, m.where...).New)
}
