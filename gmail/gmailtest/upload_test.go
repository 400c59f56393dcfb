package gmailtest_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"
	"google.golang.org/api/googleapi"

	"github.com/postroom-go/postroom/gmail/gmailtest"
)

const rfc822 = "message/rfc822"

// large is a message of more than two chunks of an upload.
var large = "From: you@example.com\r\nTo: ann@example.com\r\nSubject: large\r\nMessage-ID: <large@example.com>\r\n\r\n" +
	strings.Repeat("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcd\r\n", 10_000)

// rawOf gives the bytes of a message.
func rawOf(t *testing.T, users *gmail.UsersService, id string) string {
	t.Helper()
	message, err := users.Messages.Get("me", id).Format("raw").Do()
	require.NoError(t, err)
	raw, err := base64.URLEncoding.DecodeString(message.Raw)
	require.NoError(t, err)
	return string(raw)
}

// Every method that takes a message takes it as it is too: at once, or in chunks when it is large.
func TestUploads(t *testing.T) {
	for size, content := range map[string]string{"small": "To: ann@example.com\r\nFrom: you@example.com\r\nDate: x\r\nMessage-ID: <s@example.com>\r\n\r\nsmall\r\n", "large": large} {
		t.Run(size, func(t *testing.T) {
			_, users := serve(t, nil)
			media := func() io.Reader { return strings.NewReader(content) }
			options := []googleapi.MediaOption{googleapi.ContentType(rfc822), googleapi.ChunkSize(256 << 10)}
			label := &gmail.Message{LabelIds: []string{"STARRED"}}

			inserted, err := users.Messages.Insert("me", label).Media(media(), options...).Do()
			require.NoError(t, err)
			require.Equal(t, []string{"STARRED"}, inserted.LabelIds)
			require.Equal(t, content, rawOf(t, users, inserted.Id))
			imported, err := users.Messages.Import("me", label).Media(media(), options...).NeverMarkSpam(true).Do()
			require.NoError(t, err)
			require.Equal(t, inserted.Id, imported.Id, "it is there already")
			sent, err := users.Messages.Send("me", &gmail.Message{}).Media(media(), options...).Do()
			require.NoError(t, err)
			require.Equal(t, []string{"SENT"}, sent.LabelIds)
			require.Contains(t, rawOf(t, users, sent.Id), content[:64])

			draft, err := users.Drafts.Create("me", &gmail.Draft{}).Media(media(), options...).Do()
			require.NoError(t, err)
			require.Equal(t, content, rawOf(t, users, draft.Message.Id))
			updated, err := users.Drafts.Update("me", draft.Id, &gmail.Draft{}).Media(media(), options...).Do()
			require.NoError(t, err)
			require.Equal(t, draft.Id, updated.Id)
			gone, err := users.Drafts.Send("me", &gmail.Draft{Id: draft.Id}).Media(media(), options...).Do()
			require.NoError(t, err)
			require.Equal(t, []string{"SENT"}, gone.LabelIds)
		})
	}
}

func TestAnUploadThatIsNoMessage(t *testing.T) {
	_, users := serve(t, nil)
	_, err := users.Messages.Send("me", &gmail.Message{}).Media(strings.NewReader("To: a@example.com\r\n\r\n")).Do()
	api := requireAPIError(t, err, 400, "badContent")
	require.Contains(t, api.Message, "Media type 'text/plain; charset=utf-8' is not supported")
	_, err = users.Messages.Send("me", &gmail.Message{}).Media(strings.NewReader(""), googleapi.ContentType(rfc822)).Do()
	requireAPIError(t, err, 400, "invalidArgument")
	_, err = users.Messages.Send("me", &gmail.Message{}).
		Media(strings.NewReader("To: a@example.com\r\n\r\n"+strings.Repeat("x", 36<<20)), googleapi.ContentType(rfc822),
			googleapi.ChunkSize(0)).Do()
	var tooLarge *googleapi.Error
	require.ErrorAs(t, err, &tooLarge)
	require.Equal(t, 413, tooLarge.Code)
}

// An uploader speaks the protocol of resumable uploads by hand.
type uploader struct {
	t      *testing.T
	server *gmailtest.Server
	at     string
}

// An uploadReply is what was answered; there is none when the connection was cut.
type uploadReply struct {
	StatusCode int
	Header     http.Header
}

func (u *uploader) do(verb, url, body string, header ...string) (*uploadReply, string) {
	u.t.Helper()
	request, err := http.NewRequestWithContext(u.t.Context(), verb, url, strings.NewReader(body))
	require.NoError(u.t, err)
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err.Error()
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(u.t, err)
	return &uploadReply{response.StatusCode, response.Header}, string(text)
}

// begin starts an upload for messages.send.
func (u *uploader) begin() {
	u.t.Helper()
	response, text := u.do("POST", u.server.URL()+"upload/gmail/v1/users/me/messages/send?uploadType=resumable", "{}",
		"Authorization", "Bearer gmailtest", "X-Upload-Content-Type", rfc822, "X-Upload-Content-Length",
		strconv.Itoa(len(large)))
	require.Equal(u.t, 200, response.StatusCode, text)
	u.at = response.Header.Get("Location")
}

// put sends the bytes from first up to end. The address of the upload is the only proof of who sends them.
func (u *uploader) put(first, end int) (*uploadReply, string) {
	u.t.Helper()
	return u.do("PUT", u.at, large[first:end], "Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, end-1, len(large)))
}

func TestAResumableUploadGoesOn(t *testing.T) {
	server, users := serve(t, nil)
	u := &uploader{t: t, server: server}
	u.begin()
	const chunk = 256 << 10
	status := func() (int, string) {
		response, _ := u.do("PUT", u.at, "", "Content-Range", fmt.Sprintf("bytes */%d", len(large)))
		return response.StatusCode, response.Header.Get("Range")
	}
	code, have := status()
	require.Equal(t, 308, code)
	require.Empty(t, have)
	response, _ := u.put(0, chunk)
	require.Equal(t, 308, response.StatusCode)
	require.Equal(t, "bytes=0-262143", response.Header.Get("Range"))

	response, text := u.put(2*chunk, len(large))
	require.Equal(t, 400, response.StatusCode, "a gap")
	require.Contains(t, text, "There are 262144 byte(s)")
	response, _ = u.put(chunk, chunk+10)
	require.Equal(t, 400, response.StatusCode, "an odd chunk")
	response, _ = u.do("PUT", u.at, "x", "Content-Range", "bytes nonsense")
	require.Equal(t, 400, response.StatusCode)
	code, have = status()
	require.Equal(t, 308, code)
	require.Equal(t, "bytes=0-262143", have)
	require.Zero(t, server.Counts()[gmailtest.MessagesSend], "nothing is sent yet")
	require.Zero(t, server.Units())

	response, _ = u.put(chunk, 2*chunk)
	require.Equal(t, 308, response.StatusCode)
	server.Fault(gmailtest.Fault{Method: gmailtest.MessagesSend, Cut: gmailtest.CutAfter})
	response, _ = u.put(2*chunk, len(large))
	require.Nil(t, response, "the answer is lost")
	response, text = u.put(2*chunk, len(large))
	require.Equal(t, 200, response.StatusCode, text)
	require.Contains(t, text, `"SENT"`)
	count, err := server.Count(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, count, "it was sent once")
	require.Equal(t, 100, server.Units())
	require.True(t, strings.HasSuffix(rawOf(t, users, find(t, users, "large@example.com")), large))

	response, _ = u.do("PUT", server.URL()+"upload/gmail/v1/users/me/messages/send?upload_id=none", "")
	require.Equal(t, 404, response.StatusCode)
}

func TestAResumableUploadThatCannotBegin(t *testing.T) {
	server, _ := serve(t, nil)
	u := &uploader{t: t, server: server}
	url := server.URL() + "upload/gmail/v1/users/me/messages/send?uploadType=resumable"
	for name, header := range map[string][]string{
		"no token":  {"X-Upload-Content-Type", rfc822},
		"no type":   {"Authorization", "Bearer gmailtest"},
		"bad type":  {"Authorization", "Bearer gmailtest", "X-Upload-Content-Type", "image/png"},
		"too large": {"Authorization", "Bearer gmailtest", "X-Upload-Content-Type", rfc822, "X-Upload-Content-Length", "36700161"},
		"no length": {"Authorization", "Bearer gmailtest", "X-Upload-Content-Type", rfc822, "X-Upload-Content-Length", "-1"},
	} {
		t.Run(name, func(t *testing.T) {
			response, _ := u.do("POST", url, "{}", header...)
			require.GreaterOrEqual(t, response.StatusCode, 400)
			require.Empty(t, response.Header.Get("Location"))
		})
	}
	response, _ := u.do("POST", server.URL()+"upload/gmail/v1/users/me/messages/send?uploadType=pigeon", "",
		"Authorization", "Bearer gmailtest")
	require.Equal(t, 400, response.StatusCode)
	response, _ = u.do("POST", server.URL()+"upload/gmail/v1/users/me/messages/send?uploadType=multipart", "--b\r\n",
		"Authorization", "Bearer gmailtest", "Content-Type", "multipart/related; boundary=b")
	require.Equal(t, 400, response.StatusCode)
}

// A request that is refused before its body was read is answered all the same.
func TestARefusalIsHeard(t *testing.T) {
	server, _ := serve(t, nil)
	u := &uploader{t: t, server: server}
	for range 20 {
		response, _ := u.do("POST", server.URL()+"upload/gmail/v1/users/me/messages/send", strings.Repeat("x", 2<<20),
			"Content-Type", rfc822)
		require.NotNil(t, response)
		require.Equal(t, 401, response.StatusCode)
	}
}

// Those who repeat the last chunk at the same time get one answer: the message is sent once.
func TestAnUploadThatIsRepeatedAtOnce(t *testing.T) {
	server, _ := serve(t, nil)
	u := &uploader{t: t, server: server}
	u.begin()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			response, _ := u.put(0, len(large))
			assert.Equal(t, 200, response.StatusCode)
		})
	}
	wg.Wait()
	count, err := server.Count(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, count)
}

// A chunk that is cut on its way counts as far as it came, and the client goes on from there.
func TestAChunkThatIsCut(t *testing.T) {
	server, users := serve(t, nil)
	u := &uploader{t: t, server: server}
	u.begin()
	address, err := url.Parse(u.at)
	require.NoError(t, err)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address.Host)
	require.NoError(t, err)
	defer conn.Close()
	_,
		err = fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\nContent-Range: bytes 0-%d/%d\r\n\r\n%s",
		address.RequestURI(), len(large), len(large)-1, len(large), large[:1000])
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	_, err = io.ReadAll(conn)
	require.NoError(t, err)

	response, _ := u.do("PUT", u.at, "", "Content-Range", fmt.Sprintf("bytes */%d", len(large)))
	require.Equal(t, 308, response.StatusCode)
	require.Equal(t, "bytes=0-999", response.Header.Get("Range"))
	count, err := server.Count(t.Context())
	require.NoError(t, err)
	require.Zero(t, count, "nothing is sent of a part")
	response, text := u.put(1000, len(large))
	require.Equal(t, 200, response.StatusCode, text)
	require.True(t, strings.HasSuffix(rawOf(t, users, only(t, users, "in:sent").Id), large))
}

// The size may be unknown until the last chunk, and a range that does not fit its body is refused.
func TestRangesOfChunks(t *testing.T) {
	server, _ := serve(t, nil)
	const chunk = 256 << 10
	for name, test := range map[string]struct {
		rangeOf, body string
		status        int
	}{
		"more than there is":  {fmt.Sprintf("bytes 0-%d/%d", chunk-1, 2*chunk), "short", 400},
		"behind its total":    {"bytes 0-9/5", "0123456789", 400},
		"backwards":           {"bytes 5-4/10", "", 400},
		"negative":            {"bytes -1-4/10", "01234", 400},
		"negative total":      {"bytes 0-4/-5", "01234", 400},
		"no total":            {"bytes 0-4", "01234", 400},
		"larger than allowed": {fmt.Sprintf("bytes 0-%d/%d", chunk-1, 35<<20+1), large[:chunk], 413},
		"as large as allowed": {fmt.Sprintf("bytes 0-%d/%d", chunk-1, 35<<20), large[:chunk], 308},
		"total not known":     {fmt.Sprintf("bytes 0-%d/*", chunk-1), large[:chunk], 308},
	} {
		t.Run(name, func(t *testing.T) {
			u := &uploader{t: t, server: server}
			u.begin()
			response, text := u.do("PUT", u.at, test.body, "Content-Range", test.rangeOf)
			require.Equal(t, test.status, response.StatusCode, text)
			response, _ = u.do("PUT", u.at, "", "Content-Range", "bytes */*", "X-Guploader-No-308", "yes")
			require.Equal(t, 200, response.StatusCode)
			require.Equal(t, "308", response.Header.Get("X-Http-Status-Code-Override"))
		})
	}
	u := &uploader{t: t, server: server}
	u.begin()
	response, _ := u.do("PUT", u.at, large[:chunk], "Content-Range", fmt.Sprintf("bytes 0-%d/*", chunk-1))
	require.Equal(t, 308, response.StatusCode)
	response, text := u.put(chunk, len(large))
	require.Equal(t, 200, response.StatusCode, text)
	users := client(t, server)
	require.True(t, strings.HasSuffix(rawOf(t, users, only(t, users, "in:sent").Id), large))
}

// An upload that goes on has the parameters that it began with.
func TestAnUploadKeepsItsParameters(t *testing.T) {
	server, users := serve(t, nil)
	u := &uploader{t: t, server: server}
	response, text := u.do("POST", server.URL()+
		"upload/gmail/v1/users/me/messages?uploadType=resumable&internalDateSource=dateHeader&fields=id", `{"labelIds": ["INBOX"]}`,
		"Authorization", "Bearer gmailtest", "X-Upload-Content-Type", rfc822)
	require.Equal(t, 200, response.StatusCode, text)
	require.NotEmpty(t, response.Header.Get("X-Guploader-Uploadid"))
	response, text = u.do("PUT", response.Header.Get("Location"), "Date: Sun, 01 Feb 2026 10:00:00 +0000\r\n\r\nHi\r\n")
	require.Equal(t, 200, response.StatusCode, text)
	message := only(t, users, "in:inbox")
	require.JSONEq(t, `{"id": "`+message.Id+`"}`, text)
	require.Equal(t, time.Date(2026, 2, 1, 10, 0, 0, 0, time.UTC).UnixMilli(), message.InternalDate)
}

// Without uploadType the content says how the message comes.
func TestUploadsOfNoNamedType(t *testing.T) {
	server, _ := serve(t, nil)
	u := &uploader{t: t, server: server}
	address := server.URL() + "upload/gmail/v1/users/me/messages"
	related := "--b\r\nContent-Type: application/json\r\n\r\n{\"labelIds\": [\"STARRED\"]}\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nSubject: x\r\n\r\n"
	for name, test := range map[string]struct {
		contentType, body string
		status            int
		want              string
	}{
		"multipart":          {"multipart/related; boundary=b", related + "\r\n--b--\r\n", 200, "STARRED"},
		"multipart, no end":  {"multipart/related; boundary=b", related, 400, "Missing end boundary"},
		"no boundary":        {"multipart/related", related, 400, "Missing multipart boundary"},
		"one part":           {"multipart/related; boundary=b", "--b\r\n\r\n{}\r\n--b--\r\n", 400, "Missing end boundary"},
		"media":              {rfc822, "Subject: x\r\n\r\n", 200, `"id"`},
		"media of some type": {"text/plain", "Subject: x\r\n\r\n", 400, "is not supported"},
	} {
		t.Run(name, func(t *testing.T) {
			response, text := u.do("POST", address, test.body, "Authorization", "Bearer gmailtest", "Content-Type",
				test.contentType)
			require.Equal(t, test.status, response.StatusCode, text)
			require.Contains(t, text, test.want)
		})
	}
	count, err := server.Count(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, count)
}
