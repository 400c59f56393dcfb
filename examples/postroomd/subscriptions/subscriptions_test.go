package subscriptions_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/app"
	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/environment"
	"github.com/postroom-go/postroom/examples/postroomd/subscriptions"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	gmailjobs "github.com/postroom-go/postroom/gmail"
	"github.com/postroom-go/postroom/gmail/gmailtest"
	"github.com/postroom-go/postroom/gmail/gmailtest/sample"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/unsubscribe"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

func TestMain(m *testing.M) { dbtest.Main(m, app.Migrate) }

// A world is a mailbox with mailing lists, and the server of the lists.
type world struct {
	*testing.T
	*app.App
	gmail   *gmailtest.Server
	account mailstore.Account
	lists   *httptest.Server
	n       int

	mu    sync.Mutex
	asked []string
}

// each runs a test on both databases.
func each(t *testing.T, configure func(*config.Config), fn func(w *world)) {
	t.Run("sqlite", func(t *testing.T) { fn(newWorld(t, "", configure)) })
	t.Run("postgres", func(t *testing.T) { fn(newWorld(t, dbtest.MigratedDSN(t), configure)) })
}

func unchanged(*config.Config) {}

func newWorld(t *testing.T, database string, configure func(*config.Config)) *world {
	t.Helper()
	w := &world{T: t}
	var err error
	w.gmail, err = gmailtest.Open(t.Context(), gmailtest.Config{Email: sample.Owner})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.gmail.Close()) })
	w.lists = httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.mu.Lock()
		w.asked = append(w.asked, r.Method+" "+r.URL.Path+" "+string(body))
		w.mu.Unlock()
		if strings.HasPrefix(r.URL.Path, "/refuses") {
			http.Error(rw, "<script>no</script>", http.StatusForbidden)
		}
	}))
	t.Cleanup(w.lists.Close)
	cfg := config.Default()
	cfg.Gmail = config.Gmail{Address: sample.Owner, Token: "token", Endpoint: w.gmail.URL(), SpamAndTrash: true,
		OldMail: config.SortOldMail}
	cfg.Lists.Enabled = true
	cfg.Paths.Database = config.Database(database)
	configure(&cfg)
	env := &environment.Environment{Folder: environment.Folder(t.TempDir()), Config: cfg}
	require.NoError(t, env.Prepare())
	if !cfg.Paths.Database.Postgres() {
		dbtest.MigratedFile(t, env.Database())
	}
	w.App, err = app.New(t.Context(), app.Config{Environment: env, Logger: slog.New(slog.DiscardHandler),
		ListTransport: w.lists.Client().Transport})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	w.work()
	accounts, err := w.Mail.Accounts(t.Context())
	require.NoError(t, err)
	w.account = accounts[0]
	return w
}

// work takes in the mail, and carries out what is to be done.
func (w *world) work() {
	w.Helper()
	_, err := w.Worked(w.Context())
	require.NoError(w, err)
	faults, err := w.RunUntilIdle(w.Context())
	require.NoError(w, err)
	require.Empty(w, faults)
}

func (w *world) requests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.asked)
}

// oneClick is the header of a list that is left by one click at a path of the server.
func (w *world) oneClick(path string) string {
	return "List-Unsubscribe: <" + w.lists.URL + path + ">\r\nList-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"
}

// send delivers n letters of a list of shop.example, whose header is signed.
func (w *world) send(name string, n int, header string) { w.sendList(name, name, n, header) }

// sendList is send of a list with another name than its sender.
func (w *world) sendList(name, list string, n int, header string) {
	w.Helper()
	for range n {
		w.n++
		_, err := w.gmail.Deliver(w.Context(), fmt.Appendf(nil,
			"Received: from mail.shop.example by mx.google.com with ESMTPS id x; Fri, 27 Nov 2026 02:00:00 -0800\r\n"+
				"Authentication-Results: mx.google.com; dkim=pass header.i=@shop.example header.s=s header.b=AbCd\r\n"+
				"DKIM-Signature: v=1; d=shop.example; s=s; h=from:list-unsubscribe:list-unsubscribe-post; b=AbCdEf\r\n"+
				"From: %s <%s@shop.example>\r\nTo: %s\r\nSubject: Letter %d\r\nMessage-ID: <%d@shop.example>\r\n"+
				"List-Id: <%s.shop.example>\r\n%s\r\nBuy.\r\n", name, name, sample.Owner, w.n, w.n, list, header))
		require.NoError(w, err)
	}
}

func (w *world) suggested() (senders []string, list []subscriptions.Subscription) {
	w.Helper()
	list, err := subscriptions.Suggested(w.Context(), w.App, w.account)
	require.NoError(w, err)
	for _, s := range list {
		senders = append(senders, s.Sender)
	}
	return senders, list
}

func (w *world) left() []subscriptions.Left {
	w.Helper()
	page, err := subscriptions.NewLeft(w.Context(), w.App, w.account, "")
	require.NoError(w, err)
	require.Empty(w, page.Next)
	return page.Left
}

func (w *world) request(senders ...string) subscriptions.Request {
	return subscriptions.Request{Account: w.account, Senders: senders, By: "ada"}
}

// block blocks a list of a sender of shop.example.
func (w *world) block(name, listID string) (string, error) {
	list := subscriptions.List{Sender: name + "@shop.example", ID: listID}
	return subscriptions.Block(w.Context(), w.App, w.account, list, "ada")
}

func (w *world) plan(senders ...string) *subscriptions.Preview {
	w.Helper()
	p, err := subscriptions.Plan(w.Context(), w.App, w.request(senders...))
	require.NoError(w, err)
	return p
}

// leave does what a preview shows.
func (w *world) leave(senders ...string) subscriptions.Done {
	w.Helper()
	done, err := subscriptions.Act(w.Context(), w.App, w.request(senders...), w.plan(senders...).Digest)
	require.NoError(w, err)
	w.work()
	return done
}

// found counts what a search finds.
func (w *world) found(query string) int {
	w.Helper()
	page, err := w.SearchMail(w.Context(), w.account.ID, mailindex.Search{Query: query, Limit: 500})
	require.NoError(w, err)
	return len(page.Messages)
}

// backdate lets time pass since the lists were left.
func (w *world) backdate(by time.Duration) {
	w.Helper()
	require.NoError(w, w.DB.Write(w.Context(), func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE unsubscriptions SET left_at = $1, asked_at = $1", dbtime.Of(time.Now().Add(-by)))
		return err
	}))
}

// Lists with five messages, of which less than a fifth is read, are suggested, with how each is left; nothing of a
// person, nor what is read or rare.
func TestWhatIsSuggested(t *testing.T) {
	each(t, unchanged, func(w *world) {
		w.send("news", 7, w.oneClick("/news"))
		w.send("rare", 4, w.oneClick("/rare"))
		w.send("mail", 6, "List-Unsubscribe: <mailto:leave@shop.example?subject=bye>\r\n")
		w.send("link", 5, "List-Unsubscribe: <"+w.lists.URL+"/page>\r\n")
		w.send("none", 5, "")
		for n := range 6 {
			_, err := w.gmail.Deliver(t.Context(), fmt.Appendf(nil,
				"From: Ann <ann@example.com>\r\nSubject: Tea %d\r\nMessage-ID: <tea%d@example.com>\r\n\r\nAt five?\r\n", n, n))
			require.NoError(w, err)
		}
		w.work()
		senders, list := w.suggested()
		require.Equal(w,
			[]string{"news@shop.example", "mail@shop.example", "link@shop.example", "none@shop.example"}, senders)
		news, mail, link, none := list[0], list[1], list[2], list[3]
		require.Equal(w, []any{7, 0.0, "news.shop.example", unsubscribe.OneClick},
			[]any{news.Messages, news.ReadShare, news.ListID, news.Way})
		require.Equal(w, w.lists.Listener.Addr().String(), news.Target)
		require.Equal(w, []string{"mail", "leave@shop.example", "bye", "unsubscribe"}, []string{string(mail.Way), mail.Target,
			mail.Subject, mail.Text})
		require.Equal(w, subscriptions.ByLink, link.Way)
		require.Equal(w, w.lists.URL+"/page", link.Links[0].URL)
		require.Contains(w, link.Why, "offers no unsubscription by one click")
		require.Equal(w, subscriptions.NoWay, none.Way)

		page, err := w.SearchMail(t.Context(), w.account.ID, mailindex.Search{Query: "from:news@shop.example", Limit: 2})
		require.NoError(w, err)
		for _, m := range page.Messages {
			require.NoError(w, w.gmail.Person().Read(t.Context(), m.ProviderID))
		}
		w.work()
		senders, _ = w.suggested()
		require.NotContains(w, senders, "news@shop.example", "two of seven are read")
		require.Empty(w, w.requests(), "to look asks nobody")
	})
}

// Whom a person has written to is not suggested; the mail that leaves a list does not make its address one of these.
func TestWhomAPersonWritesToIsNotSuggested(t *testing.T) {
	each(t, unchanged, func(w *world) {
		for _, name := range []string{"ann", "bob", "news"} {
			w.send(name, 5, "Reply-To: desk-"+name+"@shop.example\r\n"+
				"List-Unsubscribe: <mailto:desk-leave@shop.example>\r\n")
		}
		w.send("leave", 5, "Reply-To: desk-leave@shop.example\r\n")
		google, err := w.gmail.Service(t.Context())
		require.NoError(w, err)
		for n, to := range []string{"ann@shop.example", "desk-bob@shop.example"} {
			raw := fmt.Appendf(nil, "From: %s\r\nTo: %s\r\nSubject: Tea\r\nMessage-ID: <sent%d@example.com>\r\n\r\nFive?\r\n",
				sample.Owner, to, n)
			_, err := google.Users.Messages.Insert("me", &gmail.Message{LabelIds: []string{postroom.LabelSent},
				Raw: base64.URLEncoding.EncodeToString(raw)}).Do()
			require.NoError(w, err)
		}
		w.work()
		w.leave("news@shop.example")
		require.Equal(w, 1, w.found("in:sent to:desk-leave@shop.example"))
		senders, _ := w.suggested()
		require.Equal(w, []string{"leave@shop.example"}, senders)
	})
}

// Several are left as one batch by one word, each as it offers: by one POST, by one mail, and never by a GET. All of it
// is on record, and how honest an undo is.
func TestListsAreLeft(t *testing.T) {
	each(t, unchanged, func(w *world) {
		w.send("news", 5, w.oneClick("/news"))
		w.send("mail", 5, "List-Unsubscribe: <mailto:leave@shop.example?subject=bye>\r\n")
		w.send("link", 5, "List-Unsubscribe: <"+w.lists.URL+"/page>\r\n")
		w.send("refuses", 5, w.oneClick("/refuses"))
		w.work()
		all := []string{"news@shop.example", "mail@shop.example", "link@shop.example", "REFUSES@shop.example "}
		p := w.plan(all...)
		require.Equal(w, 3, p.Count)
		require.Equal(w, "link@shop.example", p.NotLeft[0].Sender)
		require.Empty(w, w.requests())

		request := w.request(all...)
		request.Batch = p.Batch
		var group sync.WaitGroup
		for range 3 { // a form that is sent again is one batch
			group.Go(func() {
				done, err := subscriptions.Act(t.Context(), w.App, request, p.Digest)
				if err != nil || done.Recorded != 3 {
					w.Errorf("%v: %v", done, err)
				}
			})
		}
		group.Wait()
		senders, _ := w.suggested()
		require.Equal(w, []string{"link@shop.example"}, senders, "the others are being left")
		again := w.plan("news@shop.example")
		require.Zero(w, again.Count)
		require.Contains(w, again.NotLeft[0].Why, "already")
		w.work()
		asked := w.requests()
		slices.Sort(asked)
		require.Equal(w, []string{"POST /news List-Unsubscribe=One-Click", "POST /refuses List-Unsubscribe=One-Click"}, asked)
		require.Equal(w, 1, w.found("in:sent to:leave@shop.example subject:bye"))

		bySender := map[string]subscriptions.Left{}
		for _, l := range w.left() {
			bySender[l.Sender] = l
		}
		require.Len(w, bySender, 3)
		require.Equal(w, postroom.ActionCompleted, bySender["news@shop.example"].State)
		require.True(w, func() bool { l := bySender["news@shop.example"]; return l.Watched() }())
		require.Equal(w, "leave@shop.example", bySender["mail@shop.example"].Target)
		refused := bySender["refuses@shop.example"]
		require.Equal(w, postroom.ActionFailed, refused.State)
		require.Contains(w, refused.Error, "403 Forbidden; the list may need a person")
		require.Len(w, refused.Links, 1)
		senders, _ = w.suggested()
		require.Equal(w, []string{"link@shop.example", "refuses@shop.example"}, senders)

		entry, err := w.Ledger.Actions(t.Context(), safety.Filter{MessageID: "", Sender: "news@shop.example", Limit: 5,
			Types: []postroom.ActionType{unsubscribe.ActionType}})
		require.NoError(w, err)
		require.Contains(w, entry[0].Decision.Decision.Rationale, "ada chose to leave the list of news@shop.example")
		m, err := w.Mail.Message(t.Context(), w.account.ID, entry[0].Action.MessageID)
		require.NoError(w, err)
		x, err := view.NewExplanation(t.Context(), w.App, m)
		require.NoError(w, err)
		story, err := json.Marshal(x)
		require.NoError(w, err)
		require.Contains(w, string(story), "unsubscribe")
		_, err = w.Undoer.As("ada").Request(t.Context(), entry[0].Action.ID)
		require.ErrorContains(w, err, "cannot be taken back")
	})
}

// Mail that comes ten days later, of that list, is said; a rule blocks it, once.
func TestAListThatGoesOn(t *testing.T) {
	each(t, unchanged, func(w *world) {
		w.send("news", 5, w.oneClick("/news"))
		w.work()
		w.leave("news@shop.example")
		w.send("news", 1, w.oneClick("/news"))
		w.work()
		require.Zero(w, w.left()[0].Still, "ten days are not over")
		w.backdate(subscriptions.Grace + time.Hour)
		l := w.left()[0]
		require.Equal(w, 5, l.Still)
		require.True(w, l.Many)
		require.Len(w, subscriptions.StillComes(w.left()), 1)
		senders, _ := w.suggested()
		require.Empty(w, senders)

		name, err := w.block("news", "")
		require.NoError(w, err)
		require.Equal(w, "Archive mail of news.shop.example", name)
		again, err := w.block("news", "")
		require.NoError(w, err)
		require.Equal(w, name, again)
		require.Empty(w, subscriptions.StillComes(w.left()))
		w.send("news", 1, w.oneClick("/news"))
		w.work()
		require.Equal(w, 6, w.found("in:inbox from:news@shop.example"), "the rule has archived the seventh")
		_, err = w.block("nobody", "")
		require.ErrorAs(w, err, new(usage.Error))
	})
}

// A block is written into the file of the rules, and leaves its comments.
func TestABlockIsWrittenIntoTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(file, []byte("# mine\nrules: []\n"), 0o600))
	w := newWorld(t, "", func(c *config.Config) { c.Paths.Rules = config.Path(file) })
	w.send("news", 1, w.oneClick("/news"))
	w.work()
	_, err := w.block("news", "")
	require.NoError(w, err)
	text, err := os.ReadFile(file)
	require.NoError(w, err)
	require.Contains(w, string(text), "# mine")
	require.Contains(w, string(text), "Archive mail of news.shop.example")
}

// A block is of the list that is meant, not of what the sender has sent last, and never of the sender instead.
func TestABlockIsOfTheListThatWasMeant(t *testing.T) {
	each(t, unchanged, func(w *world) {
		w.send("news", 2, w.oneClick("/news"))
		_, err := w.gmail.Deliver(t.Context(), []byte("From: news@shop.example\r\nSubject: Your order\r\n"+
			"Message-ID: <order@shop.example>\r\n\r\nIt comes.\r\n"))
		require.NoError(w, err)
		w.work()
		_, err = w.block("news", "")
		require.ErrorAs(w, err, new(usage.Error))
		require.ErrorContains(w, err, "name the list (news.shop.example)")
		_, err = w.block("news", "other.shop.example")
		require.ErrorAs(w, err, new(usage.Error))
		name, err := w.block("news", "news.shop.example")
		require.NoError(w, err)
		require.Equal(w, "Archive mail of news.shop.example", name)
	})
}

// What is beyond the limit of a day is not left, and said so; a rule's waits.
func TestTheLimitOfADay(t *testing.T) {
	each(t, func(c *config.Config) { c.Lists.PerDay = 2 }, func(w *world) {
		for _, name := range []string{"a", "b", "c"} {
			w.send(name, 5, w.oneClick("/"+name))
		}
		w.work()
		p := w.plan("a@shop.example", "b@shop.example", "c@shop.example")
		require.Equal(w, 2, p.Count)
		require.Contains(w, p.NotLeft[0].Why, "2 lists are left within a day")
		require.Equal(w, 2, w.leave("a@shop.example", "b@shop.example", "c@shop.example").Recorded)
		require.Len(w, w.requests(), 2)
		_, err := subscriptions.Act(t.Context(), w.App, w.request("c@shop.example"), w.plan("c@shop.example").Digest)
		require.ErrorContains(w, err, "None of these")

		ids, err := w.Mail.NewestFrom(t.Context(), w.account.ID, "c@shop.example", time.Time{}, 1)
		require.NoError(w, err)
		m, err := w.Mail.Message(t.Context(), w.account.ID, ids[0])
		require.NoError(w, err)
		var id string
		require.NoError(w, w.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			a, err := w.Ledger.Record(ctx, m, postroom.Decision{Action: unsubscribe.ActionType, Confidence: 1,
				Source: postroom.SourceHost, Parameters: postroom.Parameters{}, Key: "k", Rationale: "a host"})(ctx, tx)
			require.Equal(w, postroom.ActionPendingApproval, a.State)
			id = a.ID
			if err == nil {
				_, err = w.Ledger.Approve(ctx, tx, a.ID, "ada")
			}
			return err
		}))
		w.work()
		require.Len(w, w.requests(), 2)
		a, err := w.Ledger.Action(t.Context(), id)
		require.NoError(w, err)
		require.Equal(w, postroom.ActionQueued, a.State, "it waits for tomorrow")
		require.Equal(w, []string{"c@shop.example", "is being left"}, []string{w.left()[0].Sender, w.left()[0].Result()})

		// Nothing else that is to be done to its message waits with it.
		require.NoError(w, w.DB.Write(t.Context(), func(ctx context.Context, tx queue.Tx) error {
			_, err := w.Ledger.Record(ctx, m, postroom.Decision{Action: postroom.Archive, Confidence: 1,
				Source: postroom.SourceHost, Parameters: postroom.Parameters{}, Key: "archive", Rationale: "a host"})(ctx, tx)
			return err
		}))
		w.work()
		require.Equal(w, 4, w.found("in:inbox from:c@shop.example"))
		w.backdate(25 * time.Hour)
		jobs, err := w.Queue.Jobs(t.Context(), queue.Filter{Key: gmailjobs.NewActionJob(w.account.ID, id).Key.Name})
		require.NoError(w, err)
		require.Len(w, jobs, 1)
		require.NoError(w, w.Queue.Hasten(t.Context(), jobs[0].ID))
		w.work()
		require.Len(w, w.requests(), 3)
	})
}

// Each list that was left is listed, however many were, on pages that go on where the one before has ended.
func TestAllListsThatWereLeftAreListed(t *testing.T) {
	each(t, func(c *config.Config) { c.Lists.PerDay = 100 }, func(w *world) {
		var all []string
		for n := range 51 {
			name := fmt.Sprintf("list%d", n)
			all = append(all, name+"@shop.example")
			w.send(name, 1, w.oneClick("/"+name))
		}
		w.work()
		w.leave(all...)
		first, err := subscriptions.NewLeft(w.Context(), w.App, w.account, "")
		require.NoError(w, err)
		require.Len(w, first.Left, 50)
		second, err := subscriptions.NewLeft(w.Context(), w.App, w.account, first.Next)
		require.NoError(w, err)
		require.Len(w, second.Left, 1)
		require.Empty(w, second.Next)
		var listed []string
		for _, l := range append(first.Left, second.Left...) {
			listed = append(listed, l.Sender)
		}
		require.ElementsMatch(w, all, listed)
		_, err = subscriptions.NewLeft(w.Context(), w.App, w.account, "odd")
		require.ErrorAs(w, err, new(usage.Error))
	})
}

// Two lists of one sender are two, and one that is left again is one.
func TestTheListsOfOneSenderAreListed(t *testing.T) {
	each(t, unchanged, func(w *world) {
		w.send("news", 1, w.oneClick("/news"))
		w.work()
		w.leave("news@shop.example")
		w.sendList("news", "offers", 1, w.oneClick("/offers"))
		w.work()
		w.leave("news@shop.example")
		w.backdate(time.Hour)
		w.sendList("news", "offers", 1, w.oneClick("/offers"))
		w.work()
		w.leave("news@shop.example")
		require.Len(w, w.requests(), 3)
		var lists []string
		for _, l := range w.left() {
			lists = append(lists, l.ListID)
		}
		require.Equal(w, []string{"offers.shop.example", "news.shop.example"}, lists)
	})
}

// Only what was shown is done, and nothing where lists are not left.
func TestOnlyWhatWasShownIsDone(t *testing.T) {
	w := newWorld(t, "", unchanged)
	w.send("news", 1, w.oneClick("/news"))
	w.work()
	shown := w.plan("news@shop.example").Digest
	w.send("news", 1, w.oneClick("/other"))
	w.work()
	_, err := subscriptions.Act(t.Context(), w.App, w.request("news@shop.example"), shown)
	require.ErrorIs(w, err, subscriptions.ErrChanged)
	for _, request := range []subscriptions.Request{w.request(), w.request("nobody@shop.example"),
		{Account: w.account, Senders: []string{"news@shop.example"}, Batch: "../x"}} {
		_, err = subscriptions.Plan(t.Context(), w.App, request)
		require.ErrorAs(w, err, new(usage.Error))
	}
	w.Lists = nil
	_, err = subscriptions.Plan(t.Context(), w.App, w.request("news@shop.example"))
	require.ErrorContains(w, err, "unsubscribe.enabled")
	require.Empty(w, w.requests())
}

// A rule that leaves lists asks a person, and is warned of where lists are not left. A model cannot choose it.
func TestARuleAsks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules.yaml")
	require.NoError(t, os.WriteFile(file, []byte("rules:\n- name: Leave\n  condition: {type: list_id, value: news.shop.example}\n  action: unsubscribe\n"),
		0o600))
	w := newWorld(t, "", func(c *config.Config) { c.Paths.Rules = config.Path(file) })
	w.send("news", 1, w.oneClick("/news"))
	w.work()
	list, err := w.Ledger.Actions(t.Context(), safety.Filter{Types: []postroom.ActionType{unsubscribe.ActionType}})
	require.NoError(w, err)
	require.Len(w, list, 1)
	require.Equal(w, postroom.ActionPendingApproval, list[0].Action.State)
	require.Empty(w, w.requests())
	kinds, err := w.Env.ModelKinds()
	require.NoError(w, err)
	require.False(w, kinds.Has(unsubscribe.ActionType))

	require.Empty(w, w.Env.RefusedActions()[unsubscribe.ActionType])
	w.Env.Config.Lists.Enabled = false
	require.Contains(w, w.Env.RefusedActions()[unsubscribe.ActionType], "unsubscribe.enabled is false")
}
