package cli

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/pipeline/webapi"
)

// eachCaller runs fn on an API over each database.
func eachCaller(t *testing.T, fn func(t *testing.T, c *caller)) {
	t.Run("sqlite", func(t *testing.T) {
		c, _ := newCaller(t, "--set", "paths.rules=")
		fn(t, c)
	})
	t.Run("postgres", func(t *testing.T) {
		c, _ := newCallerOn(t, onPostgres(t), "--set", "paths.rules=")
		fn(t, c)
	})
}

// try returns the status and the one sentence of a call.
func (c *caller) try(method, path, body string) (status int, says string) {
	c.Helper()
	r := httptest.NewRequest(method, "https://rules.example.org/", strings.NewReader(body))
	r.URL.Path, r.URL.RawQuery, _ = strings.Cut("/api/v1/"+path, "?")
	r.Header.Set("Authorization", "Bearer "+apiSecret)
	w := httptest.NewRecorder()
	c.pages.ServeHTTP(w, r)
	var answer webapi.ErrorBody
	if w.Code != 200 {
		require.NoError(c, json.Unmarshal(w.Body.Bytes(), &answer), "%d %q", w.Code, w.Body.String())
		require.NotEmpty(c, answer.Error)
	}
	return w.Code, answer.Error
}

// Whatever a program sends is answered by what is wrong with it, and nothing of it is a failure of ours.
func TestTheAPIAnswersWhatIsWrong(t *testing.T) {
	eachCaller(t, func(t *testing.T, c *caller) {
		made := map[string]string{"rules": starTea, "instructions": `{"name": "club", "text": "Star it."}`}
		for kind, body := range made {
			id := read[struct{ ID string }](t, c.call("POST", kind, body, 200)).ID
			fresh := func(more string) string {
				return strings.Replace(strings.Replace(body, `"Star"`, `"New"`, 1), "{", "{"+more+", ", 1)
			}
			long := strings.Repeat("x", 100_000)
			for _, bad := range []string{
				"", "null", "[]", "7", `"x"`, "{", "{}x", `{"priority": "7"}`, `{"priority": 1.5}`, `{"priority": 99999999999999999999}`,
				`{"enabled": 1}`, `{"nothing": 1}`, `{"text": 7, "name": 7}`, `{"priority": null, "x": 1}`, "{\"name\": \"\xff\", \"text\": \"\xff\"}",
				fresh(`"description": "a\u0000b"`), fresh(`"description": "` + long + `"`), fresh(`"revision": "1"`),
				`{"created_at": "yesterday"}`,
			} {
				for method, path := range map[string]string{"POST": kind, "PATCH": kind + "/" + id} {
					status, says := c.try(method, path, bad)
					require.Contains(t, []int{400, 422}, status, "%s %s %.80q: %s", method, path, bad, says)
				}
			}
			for bad, want := range map[string]string{
				fresh(`"enabled": true`) + "x": "something follows the object",
				"null":                         "it does not begin with {",
				fresh(`"nothing": 1`):          "unknown field",
				"{\"x\": \"\xff\"}":            "it has bytes that are no UTF-8",
			} {
				status, says := c.try("POST", kind, bad)
				require.Equal(t, 400, status, "%s %s: %s", kind, bad, says)
				require.Contains(t, says, want)
			}
			for _, none := range []string{"\x00", "\xff"} {
				_, says := c.try("GET", kind+"/"+none, "")
				require.Contains(t, says, "it has a NUL, or bytes that are no UTF-8")
			}
			for _, bad := range []string{
				fresh(`"id": "mine"`), fresh(`"created_at": "2020-01-01T00:00:00Z"`), fresh(`"revision": 7`),
				fresh(`"priority": -99999999`),
				fresh(`"priority": 2147483648`),
			} {
				status, says := c.try("POST", kind, bad)
				require.Equal(t, 422, status, "%s %s: %s", kind, bad, says)
			}
			c.call("PATCH", kind+"/"+id, `{"priority": -5}`, 200)
			for _, revision := range []string{"-1", "999", "9223372036854775807"} {
				c.call("PATCH", kind+"/"+id, `{"priority": 5, "revision": `+revision+`}`, 409)
			}
			for _, none := range []string{"none", "\x00", "\xff", "a b", strings.Repeat("9", 5000), "'", "%",
				"01a20927-a818-761e-b39a-e21044b77052"} {
				for method, body := range map[string]string{"GET": "", "PATCH": `{"enabled": true}`, "DELETE": ""} {
					status, says := c.try(method, kind+"/"+none, body)
					require.Equal(t, 404, status, "%s %s %.40q: %s", method, kind, none, says)
				}
			}
			for _, with := range []string{"none", `\u0000`, "", long} {
				status, says := c.try("POST", kind+"/"+id+"/swap", `{"with": "`+with+`"}`)
				require.Contains(t, []int{400, 404}, status, "%s: %s", kind, says)
			}
		}
		for _, method := range []string{"POST", "PATCH"} {
			path := map[string]string{"POST": "rules", "PATCH": "rules/" +
				read[[]webapi.Rule](t, c.call("GET", "rules", "", 200))[0].ID}[method]
			for _, bad := range []string{
				`{"condition": "x"}`, `{"condition": {"type": "none"}}`, `{"condition": {"type": "subject_regex", "value": "("}}`, `{"action": "forward"}`,
				`{"scope": "moon"}`, `{"safe_mode": "maybe"}`, `{"condition": ` + strings.Repeat(`{"op": "and", "conditions": [`, 200) + `]}`,
			} {
				status, says := c.try(method, path, bad)
				require.Contains(t, []int{400, 422}, status, "%s %.80q: %s", method, bad, says)
			}
		}
		for path, want := range map[string]int{
			"approvals?limit=0": 400, "approvals?limit=x": 400, "approvals?limit=101": 400, "approvals?limit=%00": 400, "approvals?before=%00": 400,
			"approvals?before=%ff": 400, "approvals?account_id=%zz": 400, "rules?account_id=%00": 400, "approvals?before=none": 200, "approvals/none": 404,
			"approvals/\x00": 404, "nothing": 404, "rules?account_id=none": 200,
		} {
			status, says := c.try("GET", path, "")
			require.Equal(t, want, status, "%q: %s", path, says)
		}
		for _, body := range []string{"", "null", "{}", `{"request_id": 7}`, `{"request_id": "\u0000", "digest": "\u0000"}`,
			`{"request_id": "a", "digest": "b", "more": 1}`} {
			status, says := c.try("POST", "approvals/none/approve", body)
			require.Contains(t, []int{400, 404}, status, "%q: %s", body, says)
		}
	})
}

// Of those who want one name at once, one gets it, and the others hear that it is taken.
func TestNamesThatAreTakenMeanwhile(t *testing.T) {
	eachCaller(t, func(t *testing.T, c *caller) {
		for kind, body := range map[string]string{"rules": starTea} {
			var ids []string
			for i := range 8 {
				name := fmt.Sprintf(`"Star %d"`, i)
				ids = append(ids, read[struct{ ID string }](t,
					c.call("POST", kind, strings.Replace(body, `"Star"`, name, 1), 200)).ID)
			}
			var mu sync.Mutex
			statuses := map[int]int{}
			count := func(method, path, body string) {
				status, _ := c.try(method, path, body)
				mu.Lock()
				defer mu.Unlock()
				statuses[status]++
			}
			var all sync.WaitGroup
			for _, id := range ids {
				all.Go(func() { count("PATCH", kind+"/"+id, `{"name": "One"}`) })
				all.Go(func() { count("POST", kind, strings.Replace(body, `"Star"`, `"One"`, 1)) })
			}
			all.Wait()
			require.Equal(t, map[int]int{200: 1, 409: 15}, statuses, kind)
		}
	})
}
