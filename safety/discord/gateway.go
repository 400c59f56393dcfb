package discord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/cenkalti/backoff/v4"
	"github.com/gorilla/websocket"
)

// ErrRunning reports that [Bot.Run] is already running.
var ErrRunning = errors.New("discord: the bot runs already")

const (
	openTimeout = 45 * time.Second
	// maxPresses bounds the presses that are handled at once; further presses show as failed at Discord.
	maxPresses = 16
)

// finalCodes are the codes with which the gateway closes a connection permanently: the token is wrong, or the bot
// lacks a permission.
var finalCodes = []int{4004, 4010, 4011, 4012, 4013, 4014}

// Run keeps the connection that delivers presses, and answers them, until ctx is done. It then returns nil. If the
// connection is lost, Run reconnects at once and then at growing intervals of at most two minutes, and resumes the
// session. It returns an error if Discord permanently refuses the bot.
func (b *Bot) Run(ctx context.Context) error {
	if !b.running.CompareAndSwap(false, true) {
		return ErrRunning
	}
	defer b.running.Store(false)
	c, err := b.newConnection(ctx)
	if err != nil {
		return err
	}
	defer c.presses.Wait()
	wait := backoff.NewExponentialBackOff(backoff.WithInitialInterval(time.Second),
		backoff.WithMaxInterval(2*time.Minute), backoff.WithMaxElapsedTime(0))
	for ctx.Err() == nil {
		err := c.open(ctx)
		if err == nil {
			wait.Reset()
			b.cfg.Logger.Info("discord: connected")
			c.hold(ctx)
			continue
		}
		if closed := (*websocket.CloseError)(nil); errors.As(err, &closed) && slices.Contains(finalCodes, closed.Code) {
			return fmt.Errorf("discord: the gateway refuses the bot: %w; see to its token", err)
		}
		delay := wait.NextBackOff()
		if ctx.Err() == nil {
			b.cfg.Logger.Warn("discord: no connection; trying again", "error", err, "in", delay)
		}
		pause(ctx, delay)
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// A connection is the session and its successive sockets.
type connection struct {
	bot     *Bot
	session *discordgo.Session
	lost    chan struct{} // holds a loss that is not handled yet
	presses sync.WaitGroup
	slots   chan struct{}

	mu     sync.Mutex
	socket net.Conn
}

func (b *Bot) newConnection(ctx context.Context) (*connection, error) {
	c := &connection{bot: b, lost: make(chan struct{}, 1), slots: make(chan struct{}, maxPresses)}
	var err error
	if c.session, err = b.session(bound{ctx, b.cfg.Transport, b.cfg.Gateway}); err != nil {
		return nil, err
	}
	c.session.Dialer = &websocket.Dialer{
		Proxy: http.ProxyFromEnvironment, HandshakeTimeout: openTimeout,
		NetDialContext: func(dialing context.Context, network, address string) (net.Conn, error) {
			socket, err := new(net.Dialer).DialContext(dialing, network, address)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.socket = socket
			return socket, err
		},
	}
	c.session.AddHandler(func(_ *discordgo.Session, _ *discordgo.Disconnect) {
		select {
		case c.lost <- struct{}{}:
		default:
		}
	})
	c.session.AddHandler(func(s *discordgo.Session, i *discordgo.InteractionCreate) {
		c.interaction(ctx, s, i.Interaction)
	})
	return c, nil
}

// bound ends the calls of a session when ctx is done, and answers the request for the gateway's address if that is
// configured. discordgo does neither.
type bound struct {
	ctx     context.Context //nolint:containedctx // see above
	next    http.RoundTripper
	gateway string
}

// RoundTrip makes the call.
func (t bound) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.ctx.Err(); err != nil {
		return nil, err
	}
	if !strings.HasSuffix(r.URL.Path, "/gateway") {
		return t.next.RoundTrip(r) // the calls that are made here have their own context
	}
	if t.gateway != "" {
		return gatewayAnswer(r, t.gateway), nil
	}
	ctx, cancel := context.WithTimeout(t.ctx, callTimeout)
	context.AfterFunc(ctx, cancel)
	return t.next.RoundTrip(r.WithContext(ctx))
}

// open opens a socket. It returns when the session has begun or was resumed, and ends with ctx.
func (c *connection) open(ctx context.Context) error {
	late := time.AfterFunc(openTimeout, c.cut)
	defer late.Stop()
	stop := context.AfterFunc(ctx, c.cut)
	defer stop()
	err := c.session.Open()
	if errors.Is(err, discordgo.ErrWSAlreadyOpen) {
		return nil // a late disconnect event of the previous socket
	}
	return err
}

// cut closes the socket, independently of calls that wait for it.
func (c *connection) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.socket != nil {
		_ = c.socket.Close() // it may be closed already
	}
}

// hold waits until the connection is lost, or closes it when ctx is done.
func (c *connection) hold(ctx context.Context) {
	select {
	case <-c.lost:
		c.bot.cfg.Logger.Info("discord: the connection is lost")
	case <-ctx.Done():
		late := time.AfterFunc(5*time.Second, c.cut)
		defer late.Stop()
		_ = c.session.Close() // sends a close message, and waits for a second
	}
}

// interaction starts handling a press of one of this bot's buttons.
func (c *connection) interaction(ctx context.Context, s *discordgo.Session, i *discordgo.Interaction) {
	if i == nil || i.Type != discordgo.InteractionMessageComponent {
		return
	}
	data, ok := i.Data.(discordgo.MessageComponentInteractionData)
	if !ok {
		return
	}
	pressed, ours := parseButton(data.CustomID)
	if !ours {
		return
	}
	select {
	case c.slots <- struct{}{}:
	default:
		c.bot.cfg.Logger.Warn("discord: a press is left unanswered: too many at once", "limit", maxPresses)
		return
	}
	c.presses.Go(func() {
		defer func() { <-c.slots }()
		c.bot.press(ctx, s, i, pressed)
	})
}

func gatewayAnswer(r *http.Request, address string) *http.Response {
	body := fmt.Sprintf(`{"url":%q}`, address)
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}
}
