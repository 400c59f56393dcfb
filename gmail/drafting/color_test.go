package drafting_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/drafting"
)

// colors returns the backgrounds of the labels at Gmail, by name.
func (w *world) colors() map[string]string {
	w.t.Helper()
	all, err := w.google.Users.Labels.List("me").Do()
	require.NoError(w.t, err)
	colors := make(map[string]string)
	for _, l := range all.Labels {
		if l.Color != nil {
			require.NotEmpty(w.t, l.Color.TextColor)
			colors[l.Name] = l.Color.BackgroundColor
		}
	}
	return colors
}

// The labels are made with colors, wherever they are made, and one that a person has chosen stays.
func TestLabelsHaveColors(t *testing.T) {
	w := newWorld(t, dbSQLite(t))
	made := w.colors()
	for _, name := range drafting.DefaultLabels().Names() {
		require.NotEmpty(t, made[name], name)
	}
	all, err := w.google.Users.Labels.List("me").Do()
	require.NoError(t, err)
	for _, l := range all.Labels {
		switch l.Name {
		case rework:
			_, err = w.google.Users.Labels.Patch("me", l.Id, &api.Label{Color: &api.LabelColor{TextColor: "#ffffff",
				BackgroundColor: "#653e9b"}}).Do()
		case outboxLabel:
			err = w.google.Users.Labels.Delete("me", l.Id).Do()
		}
		require.NoError(t, err)
	}
	w.run(gmail.NewLabelsSyncJob(w.account, rework))
	m := w.letter(1)
	w.label(needsResponse, m.ID)
	w.sync()
	require.Equal(t, []string{"INBOX", outboxLabel}, w.labels(m.ID))
	want := made
	want[rework] = "#653e9b"
	require.Equal(t, want, w.colors())
	require.Empty(t, drafting.Labels{}.Color("Other"))
	require.Equal(t, drafting.DefaultLabels().Names()[3], done)
	require.NotEmpty(t, drafting.Labels{Done: "Fertig"}.Color("fertig"))
}
