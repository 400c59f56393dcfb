package sample

import (
	"bytes"
	netmail "net/mail"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The letters are weekly and recent, and stand among the mail of the sample and its lists in the order of arrival.
func TestWithSchoolAddsRecentLettersAndACapsule(t *testing.T) {
	day := time.Date(2027, 3, 1, 15, 0, 0, 0, time.UTC)
	alone := map[string][]byte{}
	for msg, err := range WithLists().Messages() {
		require.NoError(t, err)
		alone[msg.Name] = msg.Raw
	}
	var school []time.Time
	position, before := 0, time.Time{}
	for msg, err := range WithSchool(day).Messages() {
		require.NoError(t, err)
		position++
		require.Equal(t, position, msg.Position)
		require.False(t, msg.Received.Before(before), msg.Name)
		before = msg.Received
		if raw, ok := alone[msg.Name]; ok {
			require.Equal(t, raw, msg.Raw, msg.Name)
			delete(alone, msg.Name)
			continue
		}
		m, err := netmail.ReadMessage(bytes.NewReader(msg.Raw))
		require.NoError(t, err, msg.Name)
		date, err := m.Header.Date()
		require.NoError(t, err, msg.Name)
		require.True(t, msg.Received.Equal(date), msg.Name)
		require.NotContains(t, string(msg.Raw), "\r", msg.Name)
		for _, host := range regexp.MustCompile(`@([\w-]+\.[\w.-]*\w)`).FindAllSubmatch(msg.Raw, -1) {
			require.Regexp(t, `(^|\.)example(\.com)?$`, string(host[1]), msg.Name)
		}
		if msg.Name != "capsule.eml" {
			require.Empty(t, m.Header.Get("List-Id")+m.Header.Get("List-Unsubscribe"))
			require.Contains(t, m.Header.Get("From"), School)
			school = append(school, msg.Received)
		}
	}
	require.Empty(t, alone)
	require.Len(t, school, len(schoolSubjects))
	require.Equal(t, time.Date(2027, 2, 28, 7, 0, 0, 0, time.UTC), school[len(school)-1])
	require.Equal(t, 35*24*time.Hour, school[len(school)-1].Sub(school[0]))
	require.Equal(t, "sample", WithSchool(day).Name(), "a copy of one goes on as a copy of the other")
}
