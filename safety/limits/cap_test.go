package limits

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
)

func TestParseCap(t *testing.T) {
	for text, want := range map[string]Cap{
		"trash,archive 50/1h by rules": {Actions: []postroom.ActionType{postroom.Trash, postroom.Archive}, Source: postroom.SourceDeterministic, Most: 50, Window: time.Hour},
		"forward 20/1d":                {Actions: []postroom.ActionType{postroom.Forward}, Most: 20, Window: 24 * time.Hour},
		"* 5/90m for abc by model":     {AccountID: "abc", Source: postroom.SourceModel, Most: 5, Window: 90 * time.Minute},
	} {
		c, err := ParseCap(text)
		require.NoError(t, err)
		require.Equal(t, want, c)
	}
	for _, bad := range []string{"", "trash", "trash 5", "trash 5/h", "trash x/1h", "trash 5/1h by", "trash 5/1h by me",
		"trash 5/1h by rules by model", "trash 5/1h for a for b"} {
		_, err := ParseCap(bad)
		require.ErrorContains(t, err, "safety: cap ", bad)
	}
	for want, c := range map[string]Cap{
		"Policy.Caps[0].Most is -1":                {Most: -1, Window: time.Hour},
		"Policy.Caps[0].Window is 0s":              {Most: 1},
		`Policy.Caps[0].Source is "none"`:          {Most: 1, Window: time.Hour, Source: postroom.SourceNone},
		`Policy.Caps[0].Actions[0] is "explode"`:   {Most: 1, Window: time.Hour, Actions: []postroom.ActionType{"explode"}},
		`Policy.Caps[0].Actions[0] is "none", whi`: {Most: 1, Window: time.Hour, Actions: []postroom.ActionType{postroom.None}},
	} {
		require.ErrorContains(t, CheckCaps([]Cap{c}, nil), want)
	}
}
