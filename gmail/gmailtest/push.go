package gmailtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// A PushTarget receives published notifications by HTTP, like a push subscription of Pub/Sub: a POST with the message as JSON and
// a signed token of OpenID Connect. Without a 2xx response the message is sent again, see [PushTarget.Retry].
type PushTarget struct {
	Topic string // projects/PROJECT/topics/TOPIC
	URL   string

	// Audience is the audience of the token. Default: URL.
	Audience string
	// ServiceAccount is the email address in the token. Default: push@gmailtest.iam.gserviceaccount.com.
	ServiceAccount string
	// Subscription is the subscription name in messages. Default: projects/gmailtest/subscriptions/push.
	Subscription string
	// Retry is the delay before a message is sent again; it doubles up to a minute. Default 100 ms.
	Retry time.Duration
}

// A Push is a delivery of a notification, or an attempt.
type Push struct {
	Topic     string `json:"topic"`
	Email     string `json:"email"`
	HistoryID uint64 `json:"history_id"`
	MessageID string `json:"message_id"` // of Pub/Sub; a duplicate has the same
	URL       string `json:"url"`        // empty: passed to Config.Publish
	Status    int    `json:"status"`     // of the response; 0 if there was none
	Lost      bool   `json:"lost"`       // by a fault
}

// A PushFault is a fault of some notifications. They are counted in the order of their publishing.
type PushFault struct {
	// Nth is the first affected notification, counted from 1 since the fault was set. Zero means 1.
	Nth int
	// Times is the number of consecutive notifications. Zero means 1; a negative number means all further ones.
	Times int

	// Lose drops the notification.
	Lose bool
	// Copies is the number of additional deliveries.
	Copies int
	// Gate holds the notification until it is opened, while later ones pass.
	Gate *Gate
}

type countedPushFault struct {
	PushFault
	seen int
}

// A publisher delivers notifications.
type publisher struct {
	server *Server
	wake   chan struct{}   // holds one value if there may be notifications
	ctx    context.Context //nolint:containedctx // the life of the server
	cancel context.CancelFunc
	client *http.Client

	mu      sync.Mutex
	targets []PushTarget
	faults  []*countedPushFault
	pushes  []Push
	lastID  int64 // of a message
}

func newPublisher(s *Server) *publisher {
	p := &publisher{server: s, wake: make(chan struct{}, 1), client: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// PushTo adds a target for notifications that are published to its topic from now on.
func (s *Server) PushTo(target PushTarget) error {
	if !topicName.MatchString(target.Topic) {
		return fmt.Errorf("gmailtest: PushTarget.Topic is %q; write projects/PROJECT/topics/TOPIC", target.Topic)
	}
	if target.URL == "" {
		return errors.New("gmailtest: PushTarget.URL is empty; give the address of the program that receives notifications")
	}
	setDefault(&target.Audience, target.URL)
	setDefault(&target.ServiceAccount, "push@gmailtest.iam.gserviceaccount.com")
	setDefault(&target.Subscription, "projects/gmailtest/subscriptions/push")
	if target.Retry <= 0 {
		target.Retry = 100 * time.Millisecond
	}
	s.publisher.mu.Lock()
	s.publisher.targets = append(s.publisher.targets, target)
	s.publisher.mu.Unlock()
	return nil
}

func setDefault(field *string, value string) {
	if *field == "" {
		*field = value
	}
}

// FaultPushes adds faults of notifications. If several select one, the first that is due applies.
func (s *Server) FaultPushes(faults ...PushFault) {
	s.publisher.mu.Lock()
	defer s.publisher.mu.Unlock()
	for _, fault := range faults {
		fault.Nth = max(fault.Nth, 1)
		if fault.Times == 0 {
			fault.Times = 1
		}
		s.publisher.faults = append(s.publisher.faults, &countedPushFault{PushFault: fault})
	}
}

// ClearPushFaults removes all faults of notifications, and opens their gates.
func (s *Server) ClearPushFaults() {
	s.publisher.mu.Lock()
	defer s.publisher.mu.Unlock()
	for _, fault := range s.publisher.faults {
		if fault.Gate != nil {
			fault.Gate.Open()
		}
	}
	s.publisher.faults = nil
}

// Pushes returns the last deliveries of notifications, including attempts, in the order in which they ended: at least 5,000, if
// there were as many.
func (s *Server) Pushes() []Push {
	s.publisher.mu.Lock()
	defer s.publisher.mu.Unlock()
	return slices.Clone(s.publisher.pushes)
}

func (p *publisher) ring() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run publishes until the server is closed.
func (p *publisher) run() {
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-p.wake:
			p.drain()
		}
	}
}

// A notificationRow is a change that has not been published.
type notificationRow struct {
	ID        int64    `db:"id"`
	Account   int64    `db:"account"`
	HistoryID uint64   `db:"history_id"`
	Labels    textList `db:"labels"`
}

// drain publishes the pending changes: for each account, only the newest change that its watch wants, since Gmail does not report
// each one.
func (p *publisher) drain() {
	var rows []notificationRow
	var watches []watchRow
	err := p.server.db.Write(p.ctx, func(ctx context.Context, tx queue.Tx) error {
		if err := dbquery.Select(ctx, tx, &watches, selectWatches, p.server.now().UnixMilli()); err != nil {
			return err
		}
		return dbquery.Select(ctx, tx, &rows, takeNotifications)
	})
	if err != nil {
		return // the server is closing, or the next change wakes it again
	}
	for i := range watches {
		w := &watches[i]
		var newest uint64
		for _, row := range rows {
			if row.Account == w.Account && w.wants(row.Labels) {
				newest = max(newest, row.HistoryID)
			}
		}
		if newest > 0 {
			p.publish(w, newest)
		}
	}
}

// publish sends one notification, and does not wait for its delivery.
func (p *publisher) publish(w *watchRow, historyID uint64) {
	push := Push{Topic: w.Topic, Email: w.Email, HistoryID: historyID}
	p.mu.Lock()
	fault := p.due()
	targets := slices.Clone(p.targets)
	p.lastID = max(p.lastID+1, p.server.now().UnixNano()) // a clock may stand still
	push.MessageID = strconv.FormatInt(p.lastID, 10)
	p.mu.Unlock()
	if fault.Lose {
		push.Lost = true
		p.note(push)
		return
	}
	for range fault.Copies + 1 {
		p.server.serving.Go(func() {
			if !fault.Gate.wait(p.ctx) {
				return
			}
			p.hand(push)
			for _, target := range targets {
				if target.Topic == push.Topic {
					p.server.serving.Go(func() { p.deliver(target, push) })
				}
			}
		})
	}
}

// due returns the fault of the next notification. The caller must hold the lock.
func (p *publisher) due() (due PushFault) {
	found := false
	for _, fault := range p.faults {
		fault.seen++
		if !found && fault.seen >= fault.Nth && (fault.Times < 0 || fault.seen < fault.Nth+fault.Times) {
			due, found = fault.PushFault, true
		}
	}
	return due
}

func (p *publisher) note(push Push) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.pushes) >= maxCalls {
		p.pushes = slices.Delete(p.pushes, 0, maxCalls/2)
	}
	p.pushes = append(p.pushes, push)
}

// data returns the content of a notification in Gmail's form.
func (push *Push) data() []byte {
	text, _ := json.Marshal(struct { //nolint:errchkjson // a text and a number
		EmailAddress string `json:"emailAddress"`
		HistoryID    uint64 `json:"historyId"`
	}{push.Email, push.HistoryID})
	return text
}

// hand passes the notification to Config.Publish until it is accepted.
func (p *publisher) hand(push Push) {
	if p.server.publish == nil {
		return
	}
	for delay := 100 * time.Millisecond; ; delay = min(2*delay, time.Minute) {
		if p.server.publish(p.ctx, push.Topic, push.data()) == nil {
			p.note(push)
			return
		}
		if !p.sleep(delay) {
			return
		}
	}
}

// deliver posts the notification until it is acknowledged.
func (p *publisher) deliver(target PushTarget, push Push) {
	push.URL = target.URL
	for delay := target.Retry; ; delay = min(2*delay, time.Minute) {
		push.Status = p.post(target, push)
		if p.ctx.Err() != nil {
			return
		}
		p.note(push)
		if push.Status >= 200 && push.Status < 300 || !p.sleep(delay) {
			return
		}
	}
}

func (p *publisher) sleep(delay time.Duration) bool {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-p.ctx.Done():
		return false
	}
}

// post returns the status of the response, or 0 if there is none.
func (p *publisher) post(target PushTarget, push Push) int {
	var body struct {
		Message struct {
			Data        []byte `json:"data"`
			MessageID   string `json:"messageId"`
			PublishTime string `json:"publishTime"`
		} `json:"message"`
		Subscription string `json:"subscription"`
	}
	now := p.server.now().UTC()
	body.Message.Data, body.Message.MessageID, body.Message.PublishTime = push.data(), push.MessageID, now.Format(time.RFC3339Nano)
	body.Subscription = target.Subscription
	text, err := json.Marshal(body)
	if err != nil {
		return 0
	}
	token, err := p.server.signer.sign(map[string]any{
		"iss": p.server.issuer(), "aud": target.Audience, "azp": target.ServiceAccount, "sub": target.ServiceAccount,
		"email": target.ServiceAccount, "email_verified": true, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	})
	if err != nil {
		return 0
	}
	request, err := http.NewRequestWithContext(p.ctx, http.MethodPost, target.URL, bytes.NewReader(text))
	if err != nil {
		return 0
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := p.client.Do(request)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20))
	return response.StatusCode
}
