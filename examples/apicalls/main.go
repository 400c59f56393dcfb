// Apicalls fetches pages from an API that limits its callers. It shows limits: each account makes at most two calls at
// once and five a second, over all machines that share the database. A job that the API refuses nevertheless waits for
// as long as the API asks, and that is no failure.
//
//	go run ./examples/apicalls -url https://httpbin.org/anything -calls 20 ada ben
//
// The limits are rows: change them while the program runs, here or with queuectl limits set.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// Call is the payload of Fetch.
type Call struct {
	Account string
	Page    int
}

// Fetch gets one page of an account.
const Fetch queue.Type[Call] = "page.fetch"

// limitCalls sets what the API allows for each account, for all machines, also for those that start later.
func limitCalls(ctx context.Context, q *queue.Queue) error {
	return q.SetLimit(ctx, queue.ForKeyPrefix("account:"), queue.Limit{MaxRunning: 2, Rate: 5, Per: time.Second})
}

// enqueue has the pages of an account fetched.
func enqueue(ctx context.Context, q *queue.Queue, account string, pages int) error {
	jobs := make([]queue.NewJob, pages)
	for i := range jobs {
		jobs[i] = Fetch.New(Call{account, i + 1}, &queue.Options{LimitKey: "account:" + account})
	}
	_, err := q.EnqueueMany(ctx, jobs)
	return err
}

// An api is called by Fetch.
type api struct {
	url    string
	client *http.Client
}

func (a *api) fetch(ctx context.Context, w *queue.Work[Call]) error {
	query := url.Values{"account": {w.Payload.Account}, "page": {strconv.Itoa(w.Payload.Page)}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.url+"?"+query.Encode(), nil)
	if err != nil {
		return queue.Fatal(err)
	}
	resp, err := a.client.Do(req)
	if err != nil {
		return err // tried again, with backoff
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusTooManyRequests:
		return queue.Defer(errors.New(resp.Status), retryAfter(resp)) // no attempt is spent
	case resp.StatusCode >= 500:
		return errors.New(resp.Status) // theirs, and perhaps better next time
	case resp.StatusCode >= 300:
		return queue.Fatal(errors.New(resp.Status)) // ours, and the same next time
	}
	w.SetResult(resp.ContentLength) // a real program stores the page, in w.Complete
	return nil
}

// retryAfter reads the header of RFC 9110, section 10.2.3: seconds or a date.
func retryAfter(resp *http.Response) time.Duration {
	value := resp.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil && seconds > 0 {
		return time.Duration(min(seconds, 3600)) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(time.Until(at), time.Hour)
	}
	return 10 * time.Second
}

func (a *api) register(d *queue.Dispatcher) {
	queue.Handle(d, Fetch, a.fetch, queue.WithTimeout(30*time.Second))
}

func main() {
	a := &api{client: http.DefaultClient}
	flag.StringVar(&a.url, "url", "https://httpbin.org/anything", "the address of the API")
	calls := flag.Int("calls", 20, "how many calls for each account")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, a, flag.Args(), *calls); err != nil {
		log.Fatal(err) //nolint:gocritic // there is nothing left to stop
	}
}

func run(ctx context.Context, a *api, accounts []string, calls int) (err error) {
	db, err := sqlite.Open(ctx, "apicalls.db", nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := queue.Migrate(ctx, db); err != nil {
		return err
	}
	q, err := queue.New(db, nil)
	if err != nil {
		return err
	}
	if err := limitCalls(ctx, q); err != nil {
		return err
	}
	for _, account := range accounts {
		if err := enqueue(ctx, q, account, calls); err != nil {
			return err
		}
	}
	d, err := queue.NewDispatcher(q, nil)
	if err != nil {
		return err
	}
	a.register(d)
	begun := time.Now()
	err = d.RunUntilIdle(ctx)
	counts, _ := q.Counts(context.WithoutCancel(ctx), queue.Filter{})
	fmt.Println("After", time.Since(begun).Round(time.Second), counts)
	return err
}
