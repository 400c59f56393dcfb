package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
)

func TestWhatAMessageShows(t *testing.T) {
	names := map[string]string{"Label_1": "Orders", "Label_2": "News"}
	for _, shows := range []struct {
		labels []string
		action postroom.ActionType
		label  string
	}{
		{[]string{"Label_1", postroom.LabelInbox}, postroom.ApplyLabel, "Orders"},
		{[]string{"Label_1", "Label_9"}, postroom.Move, "Orders"},
		{nil, postroom.Archive, ""},
		{[]string{postroom.LabelInbox, postroom.LabelStarred}, postroom.Star, ""},
		{[]string{postroom.LabelInbox}, "", ""},
		{[]string{"Label_1", "Label_2"}, "", ""},
		{[]string{"Label_1", postroom.LabelTrash}, "", ""},
		{[]string{"Label_1", postroom.LabelSpam}, "", ""},
		{[]string{"Label_1", postroom.LabelSent}, "", ""},
	} {
		action, label, err := shownBy(&postroom.Message{LabelIDs: shows.labels}, names)
		require.Equal(t, shows.action, action, shows.labels)
		require.Equal(t, shows.label, label, shows.labels)
		if shows.action == "" {
			require.ErrorAs(t, err, new(usage.Error), shows.labels)
		}
	}
}
