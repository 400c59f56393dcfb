// Package bodytext reads the visible text of a message once for all that decide about it in one job.
//
// A job that looks at a message calls [With]. The rules, the prompt, the indicators of an attack and the search index
// then share one reading of the body, which the context carries. A reading belongs to the texts that it was made of: a
// message with other texts is read anew. Without With, each asks for a reading of its own.
package bodytext

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime/htmltext"
)

// A Reader reads bodies. The Reader of a context of [With] keeps the last reading. Nil reads, and keeps nothing. A
// Reader is safe for concurrent use.
type Reader struct {
	keeps bool
	count *atomic.Int64 // nil if nobody counts

	mu   sync.Mutex
	last *kept
}

// A kept reading has the texts that it was made of.
type kept struct {
	plain, html string
	body        htmltext.Body
}

type contextKey struct{}

// With returns a context whose [Reader] keeps the last reading. If ctx has one already, With returns ctx.
func With(ctx context.Context) context.Context {
	r := From(ctx)
	switch {
	case r == nil:
		r = &Reader{}
	case r.keeps:
		return ctx
	}
	return context.WithValue(ctx, contextKey{}, &Reader{keeps: true, count: r.count})
}

// Counting returns a context in which each reading adds one to n, for tests. Each job that calls [With] below it has a
// Reader of its own.
func Counting(ctx context.Context, n *atomic.Int64) context.Context {
	return context.WithValue(ctx, contextKey{}, &Reader{count: n})
}

// From returns the Reader of the context; nil if there is none.
func From(ctx context.Context) *Reader {
	r, _ := ctx.Value(contextKey{}).(*Reader)
	return r
}

// Body returns the text that a person sees of a message, as [htmltext.ReadBody] does. The caller must not change it.
func (r *Reader) Body(msg *postroom.Message) *htmltext.Body {
	if r == nil {
		body := htmltext.ReadBody(msg.BodyPlain, msg.BodyHTML)
		return &body
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last.isOf(msg) {
		return &r.last.body
	}
	r.counts()
	read := &kept{plain: msg.BodyPlain, html: msg.BodyHTML}
	read.body = htmltext.ReadBody(read.plain, read.html)
	if r.keeps {
		r.last = read
	}
	return &read.body
}

// HTMLText returns the text that a person sees of the HTML of a message, as [htmltext.Text] does. It costs less than
// Body where nothing was read before, and is not kept.
func (r *Reader) HTMLText(msg *postroom.Message) string {
	if strings.TrimSpace(msg.BodyHTML) == "" {
		return ""
	}
	if r == nil {
		return htmltext.Text(msg.BodyHTML)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !r.last.isOf(msg):
		r.counts()
		return htmltext.Text(msg.BodyHTML)
	case r.last.body.FromHTML:
		return r.last.body.Text
	default: // the HTML shows nothing
		return ""
	}
}

// isOf reports whether the reading is of the texts that the message has now. To compare a text with itself costs
// nothing.
func (k *kept) isOf(msg *postroom.Message) bool {
	return k != nil && k.plain == msg.BodyPlain && k.html == msg.BodyHTML
}

func (r *Reader) counts() {
	if r.count != nil {
		r.count.Add(1)
	}
}
