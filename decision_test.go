package postroom_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
)

func TestImageApply(t *testing.T) {
	image := postroom.NewSnapshot([]string{"INBOX", "UNREAD"})
	for name, test := range map[string]struct {
		change postroom.LabelChange
		want   []string
	}{
		"nothing":           {postroom.LabelChange{}, []string{"INBOX", "UNREAD"}},
		"add and remove":    {postroom.LabelChange{Add: []string{"A"}, Remove: []string{"INBOX"}}, []string{"A", "UNREAD"}},
		"what is so":        {postroom.LabelChange{Add: []string{"INBOX"}, Remove: []string{"B"}}, []string{"INBOX", "UNREAD"}},
		"both of one label": {postroom.LabelChange{Add: []string{"INBOX"}, Remove: []string{"INBOX"}}, []string{"INBOX", "UNREAD"}},
	} {
		t.Run(name, func(t *testing.T) {
			after := image.Apply(test.change)
			require.Equal(t, test.want, after.LabelIDs)
			require.Equal(t, after, image.Apply(after.ChangeFrom(image)), "the difference leads there, too")
			require.Equal(t, []string{"INBOX", "UNREAD"}, image.LabelIDs, "the image stays as it is")
		})
	}
}
