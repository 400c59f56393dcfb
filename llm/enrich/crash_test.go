package enrich_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/dbtest"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/decide"
	"github.com/postroom-go/postroom/llm/enrich"
	"github.com/postroom-go/postroom/llm/llmtest"
	"github.com/postroom-go/postroom/mime/calendar"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queuetest"
)

// A desk is a language model that answers what the tool's schema asks for, and keeps all prompts.
type desk struct {
	free bool // its answers have no usage, as a kept one has none

	mu      sync.Mutex
	asked   map[string]int
	prompts []string
}

func (d *desk) Complete(_ context.Context, req *llm.Request) (*llm.Response, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked[req.Fingerprint()]++
	var texts []string
	for _, m := range req.Messages {
		texts = append(texts, m.Text)
	}
	d.prompts = append(d.prompts, strings.Join(texts, "\n"))
	var schema struct {
		Properties struct{ Enrichment json.RawMessage }
		Required   []string
	}
	if err := json.Unmarshal(req.Tools[0].Schema, &schema); err != nil {
		return nil, err
	}
	if req.ForceTool == decide.RecordFacts {
		resp := llmtest.Calls(decide.RecordFacts, string(answers(schema.Required...).JSON)).Response
		if d.free {
			resp.Usage = llm.Usage{}
		}
		return resp, nil
	}
	stages := []string{}
	if schema.Properties.Enrichment != nil {
		stages = stagesOf(decide.Question{Schema: schema.Properties.Enrichment})
	}
	return llmtest.Calls(decide.RecordDecision, fmt.Sprintf(`{"decision": {"action": "none", "parameters": {},
		"confidence": 1, "needs_approval": false, "rationale": "Nothing to do."}, "enrichment": %s}`,
		answers(stages...).JSON)).Response, nil
}

// questions lists the different questions that the model was asked. A crash while it answers repeats one, and no other.
func (d *desk) questions() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	repeated := 0
	for _, n := range d.asked {
		repeated += n - 1
	}
	if repeated > 1 {
		return []string{"questions were repeated"}
	}
	return slices.Repeat([]string{"a question to the model"}, len(d.asked))
}

// metered returns the client with its calls on record, and a decider that asks it.
func metered(t testing.TB, db queue.DB, client llm.Client,
	question func(context.Context, *postroom.Message) (*decide.Question, error)) (*decide.Decider, *llm.Records) {
	t.Helper()
	require.NoError(t, llm.Migrate(t.Context(), db))
	records, err := llm.NewRecords(llm.RecordsConfig{DB: db})
	require.NoError(t, err)
	m, err := llm.NewMetered(llm.MeteredConfig{Client: client, Records: records, Model: "acme::small",
		Price:  &llm.Price{Input: 1_000_000, Output: 2_000_000},
		Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	d, err := decide.New(decide.Config{Client: m, Question: question})
	require.NoError(t, err)
	return d, records
}

// A process may die anywhere: the end is the same, and no model is asked twice.
func TestAMessageIsEnrichedWhereverTheProcessDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in which no call takes time
		queuetest.CrashEverywhere(t, func(t testing.TB, q *queue.Queue) queuetest.Scenario {
			d := &desk{asked: map[string]int{}, free: true}
			decider, _ := metered(t, q.DB(), d, nil)
			w := newWorld(t, q, func(c *enrich.Config) {
				c.Model, c.OnEnded = decider, nil
				c.Calendars = func(context.Context, *postroom.Message) ([]*calendar.Calendar, error) {
					return calendar.ParseAll("BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Tea\nDTSTART:20260306T140000Z\nEND:VEVENT\nEND:VCALENDAR\n")
				}
			})
			msg := with(verified(letter("m", "bob@acme.example", question)), "List-Unsubscribe: <https://a.example/u>",
				"List-Post: <mailto:l@a.example>")
			msg.LabelIDs = []string{postroom.LabelImportant} // a discussion whose importance is open
			invitation := letter("n", "ada@else.example", "Tea?")
			invitation.Attachments = []postroom.Attachment{{ContentType: "text/calendar"}}
			w.arrive(msg, nil)
			w.arrive(invitation, nil)
			return queuetest.Scenario{Register: w.register, Outside: d.questions,
				Ignore: []string{"llm_calls", "llm_spend", "llm_answers", "enrichments.processing_time_ms"}}
		})
	})
}

// A mail costs one call, whatever is switched on, and no prompt is about two.
func TestAMailCostsOneCall(t *testing.T) {
	d := &desk{asked: map[string]int{}}
	q := queuetest.New(t)
	var service *enrich.Service
	decider, _ := metered(t, q.DB(), d, func(ctx context.Context, msg *postroom.Message) (*decide.Question, error) {
		return service.Question(ctx, msg)
	})
	w := newWorld(t, q, func(c *enrich.Config) { c.Model = decider })
	service = w.service
	for i := range 20 {
		msg := letter(fmt.Sprintf("m%d", i), fmt.Sprintf("ada%d@else.example", i), fmt.Sprintf("Secret%d. %s", i, question))
		if i%2 == 0 { // a rule decides about it
			w.arrive(msg, nil)
			continue
		}
		decision, err := decider.Decide(t.Context(), msg)
		require.NoError(t, err)
		require.NotNil(t, decision.Enrichment)
		w.arrive(msg, decision.Enrichment)
	}
	w.work()
	require.Len(t, d.prompts, 20)
	for _, p := range d.prompts {
		require.Equal(t, 1, strings.Count(p, "Secret"), "a prompt is about one mail")
	}
	for i := range 20 {
		e := w.get(fmt.Sprintf("m%d", i))
		require.Equal(t, enrich.StateCompleted, e.State)
		require.Equal(t, "work", e.Category)
		require.Len(t, e.Events, 1)
		require.Equal(t, 1, e.Calls)
		require.Equal(t, 120, e.Tokens)
	}
}

// Many messages and a model of which three calls in ten fail: each message is answered about once, and the cost is that
// of the answers. POSTROOM_TEST_ENRICH says how many messages; 300 without it.
func TestManyMessagesWithAModelThatFails(t *testing.T) {
	n := 300
	if text := os.Getenv("POSTROOM_TEST_ENRICH"); text != "" {
		var err error
		n, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	dbtest.Each(t, func(t *testing.T, db queue.DB) {
		q, err := queue.New(db, nil)
		require.NoError(t, err)
		d := &desk{asked: map[string]int{}}
		unreliable := llmtest.NewUnreliable(d, 0.3, 1)
		decider, records := metered(t, db, unreliable, nil)
		w := newWorld(t, q, func(c *enrich.Config) { c.Model = decider })
		asked := 0
		for i := range n {
			msg := newsletter(fmt.Sprintf("m%d", i))
			if i%10 < 3 {
				msg = letter(msg.ID, fmt.Sprintf("ada%d@else.example", i), question)
				asked++
			}
			msg.ReceivedAt = time.Now() // old mail is asked about behind new mail
			w.arrive(msg, nil)
		}
		queuetest.Work(t, q, func(d *queue.Dispatcher) {
			require.NoError(t, w.service.Register(d, queue.WithConcurrency(20), queue.WithRetry(queue.RetryPolicy{
				Base: 10 * time.Millisecond, Factor: 1, Cap: 10 * time.Millisecond})))
		})
		require.Len(t, w.sortedEnds(), n, "each has ended once")
		calls, tokens, completed := 0, 0, 0
		for page := (enrich.Filter{AccountID: account, Limit: 1000}); ; {
			list, err := w.service.List(t.Context(), page)
			require.NoError(t, err)
			if len(list) == 0 {
				break
			}
			for _, e := range list {
				calls, tokens = calls+e.Calls, tokens+e.Tokens
				if e.State == enrich.StateCompleted {
					completed++
				}
			}
			page.After = list[len(list)-1]
		}
		require.Equal(t, n, completed)
		require.Equal(t, asked, calls)
		require.Equal(t, 120*asked, tokens)
		answered := unreliable.Answered()
		require.Len(t, answered, asked)
		for fingerprint, times := range answered {
			require.Equal(t, 1, times, fingerprint)
		}
		require.Positive(t, unreliable.Failed())
		now := w.get("m0").UpdatedAt
		spent, err := records.Spent(t.Context(), account, now.AddDate(0, 0, -1), now.AddDate(0, 0, 1))
		require.NoError(t, err)
		price := llm.Price{Input: 1_000_000, Output: 2_000_000}
		require.Equal(t, llm.Money(asked)*price.Of(llm.Usage{InputTokens: 100, OutputTokens: 20}), spent.Cost)
		require.EqualValues(t, 120*asked, spent.Tokens)
	})
}
