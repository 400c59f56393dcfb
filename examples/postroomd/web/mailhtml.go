package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/internal/webui"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/safehtml"
)

// What is shown of the HTML of a message is bounded by safehtml.DefaultMaxBytes, and its pictures by
// safehtml.DefaultMaxPictureBytes.
const (
	maxPictured  = 16 << 20         // bytes of a message that is fetched for its pictures
	picturesTake = 10 * time.Second // until the message is shown without them
)

// A mailDocument is the HTML of a message, in a document of its own.
type mailDocument struct {
	Subject   string
	HTML      template.HTML
	NotLoaded int
	Cut       bool
	Shown     int
}

// mailHTML serves the HTML of a message for the frame on its page. The document loads nothing and runs nothing, and
// only a page of this host may show it.
func (h *Handler) mailHTML(w http.ResponseWriter, r *http.Request) {
	select {
	case h.frames <- struct{}{}:
		defer func() { <-h.frames }()
	case <-r.Context().Done():
		return
	}
	header := w.Header()
	header.Set("Content-Security-Policy", safehtml.Policy)
	header.Set("X-Frame-Options", "SAMEORIGIN")
	header.Set("Referrer-Policy", "no-referrer")
	header.Del("Cross-Origin-Opener-Policy") // browsers refuse it together with a sandbox
	account, m, err := h.storedMessage(r.Context(), r)
	if err != nil || m.BodyHTML == "" {
		h.withoutHTML(w, r, err)
		return
	}
	page := safehtml.Clean(m.BodyHTML, &safehtml.Options{Picture: h.pictures(r.Context(), account, m)})
	var b bytes.Buffer
	err = templates.ExecuteTemplate(&b, "mailhtml.html", mailDocument{Subject: m.Subject,
		HTML:      template.HTML(page.HTML), //nolint:gosec // it is clean, and in a sandbox
		NotLoaded: page.NotLoaded, Cut: page.Cut, Shown: safehtml.DefaultMaxBytes})
	if err != nil {
		h.withoutHTML(w, r, err)
		return
	}
	header.Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(b.Bytes())
}

// A mailMissing is the document in place of the HTML of a message.
type mailMissing struct{ Text, Back, Link string }

// withoutHTML says why there is no HTML: nothing has failed with a nil error. The document leads back, for who has
// opened it by itself. It has nothing of a mail, and links of a sandbox would arrive as a stranger's.
func (h *Handler) withoutHTML(w http.ResponseWriter, r *http.Request, cause error) {
	if r.Context().Err() != nil {
		return // the client has gone
	}
	root, mail := webui.Root(r.URL.Path), strings.Trim(strings.TrimSuffix(r.URL.EscapedPath(), "/html"), "/")
	page, status := mailMissing{"The mail has no HTML.", root + mail, "To the mail"}, http.StatusNotFound
	switch {
	case errors.Is(cause, postroom.ErrNotFound):
		page = mailMissing{"The mail is not here, or no longer.", root + "mail", "To the list of mail"}
	case cause != nil:
		h.app.Log.ErrorContext(r.Context(), "the HTML of a mail cannot be shown", "path", r.URL.Path, "error", cause)
		page.Text, status = "It failed here; the log says why.", http.StatusInternalServerError
	}
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, "mailmissing.html", page); err != nil {
		h.broken(w, r, err)
		return
	}
	w.Header().Set("Content-Security-Policy",
		"default-src 'none'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}

// pictures finds the pictures within a message by their Content-ID. The mailbox keeps them: the message is fetched when
// the first one is asked for.
func (h *Handler) pictures(ctx context.Context, account mailstore.Account, m *postroom.Message) func(string) []byte {
	parts := sync.OnceValue(func() []*mime.Part {
		ctx, cancel := context.WithTimeout(ctx, picturesTake)
		defer cancel()
		parts, err := h.parts(ctx, account, m)
		if err != nil {
			h.app.Log.WarnContext(ctx, "a message is shown without its pictures", "message", m.ID, "error", err)
		}
		return parts
	})
	return func(id string) []byte {
		if m.Size > maxPictured || !slices.ContainsFunc(m.Attachments, func(a postroom.Attachment) bool {
			return a.ContentID == id && a.Size <= safehtml.DefaultMaxPictureBytes
		}) {
			return nil
		}
		for _, p := range parts() {
			if p.ContentID == id {
				return p.Content
			}
		}
		return nil
	}
}

// parts fetches the files and pictures of a message, one message at a time. While the jobs of a mailbox do not run,
// nothing else asks Gmail for it either.
func (h *Handler) parts(ctx context.Context, account mailstore.Account, m *postroom.Message) ([]*mime.Part, error) {
	if account.State != mailstore.AccountActive {
		return nil, fmt.Errorf("nothing is fetched for a mailbox that is %s", account.State)
	}
	select {
	case h.fetches <- struct{}{}:
		defer func() { <-h.fetches }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	client, err := h.app.Clients.Client(ctx, m.AccountID)
	if err != nil {
		return nil, err
	}
	var raw *gmailapi.RawMessage
	if raw, err = client.GetRaw(ctx, m.ProviderID); err != nil {
		return nil, err
	}
	content, err := raw.Bytes()
	if err != nil {
		return nil, err
	}
	read, err := mime.ParseBytes(content, nil)
	if err != nil {
		return nil, err
	}
	return read.Attachments, nil
}
