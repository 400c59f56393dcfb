package gmailapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	api "google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime"
)

const outgoing = "From: you@example.com\r\nTo: ann@example.com\r\nSubject: Tea\r\nMessage-ID: <tea@example.com>\r\n\r\nAt five?\r\n"

// RawAt returns the bytes of a message at Gmail.
func (w *world) rawAt(id string) []byte {
	w.t.Helper()
	m, err := w.client.GetRaw(w.t.Context(), id)
	require.NoError(w.t, err)
	raw, err := m.Bytes()
	require.NoError(w.t, err)
	return raw
}

func TestSend(t *testing.T) {
	w := newWorld(t)
	ann, err := w.server.Account(t.Context(), "ann@example.com")
	require.NoError(t, err)
	for name, raw := range map[string][]byte{
		"in one request":    []byte(outgoing),
		"in several pieces": append([]byte(outgoing), bytes.Repeat([]byte(strings.Repeat("x", 76)+"\r\n"), uploadChunk/60)...),
	} {
		t.Run(name, func(t *testing.T) {
			before, err := ann.Count(t.Context())
			require.NoError(t, err)
			sent, err := w.client.Send(t.Context(), raw, "")
			require.NoError(t, err)
			require.NotEmpty(t, sent.ThreadID)
			require.True(t, bytes.HasSuffix(w.rawAt(sent.ID), raw), "Gmail puts the date before it and changes nothing")
			after, err := ann.Count(t.Context())
			require.NoError(t, err)
			require.Equal(t, before+1, after)
		})
	}
}

func TestSendRefusesWhatIsNone(t *testing.T) {
	w := newWorld(t)
	_, err := w.client.Send(t.Context(), nil, "")
	require.Equal(t, ClassInvalid, ClassOf(err))
	require.Empty(t, w.server.Calls())
}

func TestFindSent(t *testing.T) {
	w := newWorld(t)
	before := w.latest()
	draft, err := w.client.CreateDraft(t.Context(), []byte(outgoing), "")
	require.NoError(t, err)
	_, ok, err := w.client.FindSent(t.Context(), "tea@example.com", before)
	require.NoError(t, err)
	require.False(t, ok, "a draft is not sent")

	sent, err := w.client.SendDraft(t.Context(), draft.ID)
	require.NoError(t, err)
	other, err := w.client.Send(t.Context(), []byte(strings.Replace(outgoing, "<tea@", "<coffee@", 1)), "")
	require.NoError(t, err)
	for _, unindexed := range []bool{false, true} {
		w.wire.after = nil
		if unindexed { // Gmail's search does not know of the message yet
			w.wire.after = hideFromSearch
		}
		found, ok, err := w.client.FindSent(t.Context(), "tea@example.com", before)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, sent, found)
	}
	_, ok, err = w.client.FindSent(t.Context(), "tea@example.com", 0)
	require.NoError(t, err)
	require.False(t, ok, "without the history there is only the search")
	brief, err := w.client.Send(t.Context(), []byte(strings.Replace(outgoing, "<tea@", "<milk@", 1)), "")
	require.NoError(t, err)
	require.NoError(t, w.google.Users.Messages.Delete("me", brief.ID).Do())
	_, ok, err = w.client.FindSent(t.Context(), "milk@example.com", before)
	require.ErrorIs(t, err, postroom.ErrMessageGone, "it may have been the one")
	require.False(t, ok)
	_, ok, err = w.client.FindSent(t.Context(), "tea@example.com", before)
	require.NoError(t, err)
	require.True(t, ok, "another one that is gone does not matter")
	require.NoError(t, w.server.ForgetHistory(t.Context()))
	_, ok, err = w.client.FindSent(t.Context(), "tea@example.com", before)
	require.NoError(t, err, "history that Gmail has forgotten is no error")
	require.False(t, ok)
	w.wire.after = nil
	require.NoError(t, w.google.Users.Messages.Delete("me", other.ID).Do())
	_, ok, err = w.client.FindSent(t.Context(), "coffee@example.com", before)
	require.NoError(t, err)
	require.False(t, ok)

	_, _, err = w.client.FindSent(t.Context(), "a@b from:me", 0)
	require.Equal(t, ClassInvalid, ClassOf(err))
}

// hideFromSearch answers a search for a Message-ID as Gmail does before it has indexed the message.
func hideFromSearch(r *http.Request, answer *http.Response) {
	if strings.Contains(r.URL.Query().Get("q"), "rfc822msgid:") {
		setBody(answer, `{"resultSizeEstimate":0}`)
	}
}

func TestDraftCalls(t *testing.T) {
	w := newWorld(t)
	made, err := w.client.CreateDraft(t.Context(), []byte(outgoing), "")
	require.NoError(t, err)
	got, messageID, err := w.client.GetDraft(t.Context(), made.ID)
	require.NoError(t, err)
	require.Equal(t, made, got)
	require.Equal(t, "tea@example.com", messageID)

	changed, err := w.client.UpdateDraft(t.Context(), made.ID, []byte(strings.Replace(outgoing, "five", "six", 1)),
		made.Message.ThreadID)
	require.NoError(t, err)
	require.Equal(t, made.ID, changed.ID)
	require.NotEqual(t, made.Message.ID, changed.Message.ID)
	page, err := w.client.ListDrafts(t.Context(), "subject:tea", "")
	require.NoError(t, err)
	require.Equal(t, []DraftRef{changed}, page.Drafts)

	require.NoError(t, w.client.DeleteDraft(t.Context(), made.ID))
	for name, call := range map[string]func() error{
		"get":    func() error { _, _, err := w.client.GetDraft(t.Context(), made.ID); return err },
		"update": func() error { _, err := w.client.UpdateDraft(t.Context(), made.ID, []byte(outgoing), ""); return err },
		"send":   func() error { _, err := w.client.SendDraft(t.Context(), made.ID); return err },
		"delete": func() error { return w.client.DeleteDraft(t.Context(), made.ID) },
	} {
		require.Equal(t, ClassGone, ClassOf(call()), name)
	}
}

func TestAttachments(t *testing.T) {
	w := newWorld(t)
	content := bytes.Repeat([]byte("0123456789"), 5000)
	mail := mime.Outgoing{
		From: []mime.Address{{Email: "ann@example.com"}}, To: []mime.Address{{Email: "you@example.com"}}, Text: "Here.",
		Attachments: []mime.Attachment{{Filename: "numbers.bin", ContentType: "application/x-numbers", Content: content}},
	}
	raw, err := mail.Build()
	require.NoError(t, err)
	id := w.arrive(string(raw))
	files, err := w.client.ListAttachments(t.Context(), id)
	require.NoError(t, err)
	require.Len(t, files, 1)
	require.Equal(t, StoredAttachment{
		ID: files[0].ID, PartID: files[0].PartID, Filename: "numbers.bin", ContentType: "application/x-numbers",
		Size: int64(len(content)),
	}, files[0])
	got, err := w.client.GetAttachment(t.Context(), id, files[0].ID)
	require.NoError(t, err)
	require.Equal(t, content, got)
	_, err = w.client.GetAttachment(t.Context(), id, "")
	require.Equal(t, ClassInvalid, ClassOf(err))
}

func TestListSendAs(t *testing.T) {
	w := newWorld(t)
	for _, email := range []string{"shop@example.com", "me@elsewhere.example"} { // the second waits for its verification
		_, err := w.google.Users.Settings.SendAs.Create("me", &api.SendAs{SendAsEmail: email, DisplayName: "The Shop",
			ReplyToAddress: "desk@example.com"}).Do()
		require.NoError(t, err)
	}
	list, err := w.client.ListSendAs(t.Context())
	require.NoError(t, err)
	require.Equal(t, []SendAs{{Email: "you@example.com", Primary: true}, {Email: "shop@example.com", Name: "The Shop",
		ReplyTo: "desk@example.com"}}, list)
}

func TestWhichFailuresAreUnclear(t *testing.T) {
	dial := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	read := &net.OpError{Op: "read", Err: errors.New("connection reset")}
	tests := []struct {
		err     error
		size    int
		unclear bool
	}{
		{nil, 1, false},
		{&Error{Class: ClassRateLimited}, 1, false},
		{&Error{Class: ClassRateLimited, Status: 429}, 1, false},
		{&Error{Class: ClassReauthorize, Status: 400}, 1, false},
		{&Error{Class: ClassNoAccess}, 1, false},
		{&Error{Class: ClassUnauthorized, Status: 401}, 1, false},
		{&Error{Class: ClassForbidden, Status: 403}, 1, false},
		{&Error{Class: ClassInvalid, Status: 400}, 1, false},
		{&Error{Class: ClassNotFound, Status: 404}, 1, false},
		{&Error{Class: ClassServer, Status: 404}, 1, true},
		{&Error{Class: ClassNotFound, Status: 404}, uploadChunk + 1, true},
		{&Error{Class: ClassNetwork, Err: dial}, 1, false},
		{&Error{Class: ClassNetwork, Err: dial}, uploadChunk + 1, true},
		{&Error{Class: ClassUnauthorized, Status: 401}, uploadChunk + 1, true},
		{&Error{Class: ClassReauthorize, Status: 400}, uploadChunk + 1, true},
		{&Error{Class: ClassRateLimited}, uploadChunk + 1, false},
		{&Error{Class: ClassNetwork, Err: read}, 1, true},
		{&Error{Class: ClassNetwork, Err: context.DeadlineExceeded}, 1, true},
		{&Error{Class: ClassServer, Status: 408}, 1, true},
		{&Error{Class: ClassServer, Status: 503}, 1, true},
		{&Error{Class: ClassAnswer}, 1, true},
		{errors.New("something else"), 1, true},
	}
	for _, tt := range tests {
		require.Equal(t, tt.unclear, IsUnclear(tt.err, tt.size), fmt.Sprint(tt.err, " of ", tt.size))
	}
}

func TestUploadsHaveTime(t *testing.T) {
	w := newWorld(t)
	require.Equal(t, w.client.timeout, w.client.UploadTimeout(uploadRate-1))
	require.Equal(t, w.client.timeout+560e9, w.client.UploadTimeout(36_700_160))
}
