package gmailtest

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/rawmail"
	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"github.com/postroom-go/postroom/internal/dbquery"
)

func (s *Server) getProfile(ctx context.Context, r *request) (any, error) {
	bounds, err := s.historyBounds(ctx, r.account)
	if err != nil {
		return nil, err
	}
	counts, err := r.account.counts(ctx)
	return &gmail.Profile{
		EmailAddress: r.account.email, HistoryId: bounds.Newest, MessagesTotal: counts.Messages, ThreadsTotal: counts.Threads,
		ForceSendFields: []string{"MessagesTotal", "ThreadsTotal"},
	}, err
}

// A cursor is a position in a list that is sorted by time, newest first.
type cursor struct {
	date int64
	id   string // orders messages of the same instant
}

func (c cursor) token() string { return fmt.Sprintf("%d-%s", c.date, c.id) }

func parseCursor(token string) (cursor, error) {
	date, id, ok := strings.Cut(token, "-")
	n, err := strconv.ParseInt(date, 10, 64)
	if !ok || err != nil {
		return cursor{}, wire.InvalidArgument("Invalid pageToken")
	}
	return cursor{date: n, id: id}, nil
}

// A page holds the parameters of messages.list and threads.list.
type page struct {
	search
	limit int64
	after *cursor // nil: from the newest
}

func (s *Server) parsePage(ctx context.Context, r *request) (page, error) {
	var p page
	var err error
	if p.limit, err = maxResults(r.query.Get("maxResults"), 500); err != nil {
		return p, err
	}
	if p.search, err = s.parseSearch(ctx, r); err != nil {
		return p, err
	}
	if token := r.query.Get("pageToken"); token != "" {
		after, err := parseCursor(token)
		if err != nil {
			return p, err
		}
		p.after = &after
	}
	return p, nil
}

// maxEstimate is the number at which Gmail stops counting the results of a search.
const maxEstimate = 201

// estimate counts the results: messages or threads.
func (p *page) estimate(ctx context.Context, q dbquery.Querier, what string) (count int64, err error) {
	query := fmt.Sprintf("SELECT COUNT(*) FROM (SELECT DISTINCT %s FROM %s\nWHERE %s\nLIMIT %d)", what, p.from,
		p.where(), maxEstimate)
	err = dbquery.Get(ctx, q, &count, query, p.args...)
	return count, err
}

func (s *Server) listMessages(ctx context.Context, r *request) (any, error) {
	p, err := s.parsePage(ctx, r)
	if err != nil {
		return nil, err
	}
	response := &gmail.ListMessagesResponse{ForceSendFields: []string{"ResultSizeEstimate"}}
	if response.ResultSizeEstimate, err = p.estimate(ctx, s.db.Reader(), "m.seq"); err != nil {
		return nil, err
	}
	rows, next, err := p.messages(ctx, s.db.Reader())
	if err != nil {
		return nil, err
	}
	response.NextPageToken = next
	for _, row := range rows {
		response.Messages = append(response.Messages, &gmail.Message{Id: row.ID, ThreadId: row.ThreadID})
	}
	return response, nil
}

// messages returns the messages of the page, newest first. A cursor names the last message and not a number of
// messages, so that arrivals and deletions between two pages do not move messages from one to the other.
func (p *page) messages(ctx context.Context, q dbquery.Querier) (rows []messageRow, next string, err error) {
	if p.after != nil {
		p.add("("+p.by+".internal_date, "+p.by+".seq) < (%s, CAST(%s AS INTEGER))", p.after.date, p.after.id)
	}
	limit := p.arg(p.limit + 1)
	query := selectListed + p.from + "\nWHERE " + p.where() +
		"\nORDER BY " + p.order() + "\nLIMIT " + limit
	if err := dbquery.Select(ctx, q, &rows, query, p.args...); err != nil {
		return nil, "", err
	}
	if int64(len(rows)) > p.limit {
		rows = rows[:p.limit]
		last := rows[len(rows)-1]
		next = cursor{last.InternalDate, strconv.FormatInt(last.Seq, 10)}.token()
	}
	return rows, next, nil
}

// A format selects the parts of a message to return.
type format struct {
	name    string
	headers []string // of format metadata; empty: all
}

func parseFormat(query url.Values) (format, error) {
	f := format{name: strings.ToLower(query.Get("format")), headers: query["metadataHeaders"]}
	switch f.name {
	case "":
		f.name = "full"
	case "minimal", "metadata", "full", "raw":
	default:
		return f, wire.InvalidArgument("Invalid value at 'format': %q", f.name)
	}
	return f, nil
}

func (s *Server) getMessage(ctx context.Context, r *request) (any, error) {
	f, err := parseFormat(r.query)
	if err != nil {
		return nil, err
	}
	row, err := loadMessage(ctx, s.db.Reader(), r.account.id, r.param("id"))
	if err != nil {
		return nil, err
	}
	return f.render(ctx, s.db.Reader(), &row)
}

// render returns a message in the format.
func (f format) render(ctx context.Context, q dbquery.Querier, row *messageRow) (*gmail.Message, error) {
	m := row.ref()
	m.HistoryId, m.InternalDate, m.SizeEstimate, m.Snippet = row.HistoryID, row.InternalDate, row.Size, row.Snippet
	m.ForceSendFields = []string{"Snippet", "InternalDate"}
	if f.name == "minimal" {
		return m, nil
	}
	raw, err := loadRaw(ctx, q, row.Seq)
	if err != nil {
		return nil, err
	}
	switch f.name {
	case "raw":
		m.Raw = base64.URLEncoding.EncodeToString(raw)
	case "metadata":
		m.Payload = metadata(rawmail.Parse(raw), f.headers)
	default:
		m.Payload = payload(rawmail.Parse(raw), "")
	}
	return m, nil
}

func loadRaw(ctx context.Context, q dbquery.Querier, seq int64) ([]byte, error) {
	var raw []byte
	err := dbquery.Get(ctx, q, &raw, selectRaw, seq)
	return raw, foundOr404(err)
}

func (s *Server) getAttachment(ctx context.Context, r *request) (any, error) {
	row, err := loadMessage(ctx, s.db.Reader(), r.account.id, r.param("messageId"))
	if err != nil {
		return nil, err
	}
	raw, err := loadRaw(ctx, s.db.Reader(), row.Seq)
	if err != nil {
		return nil, err
	}
	part := findAttachment(rawmail.Parse(raw), r.param("id"))
	if part == nil {
		return nil, wire.InvalidArgument("Invalid attachment token")
	}
	content := bodyOf(part)
	return &gmail.MessagePartBody{
		Data: base64.URLEncoding.EncodeToString(content), Size: int64(len(content)),
		ForceSendFields: []string{"Size"},
	}, nil
}

// always are the fields that Gmail sends even if they are empty.
var always = []string{"PartId", "Filename", "Body"}

// payload returns the tree of parts of format full. The parts of a part are numbered from 0, separated by dots.
func payload(p *rawmail.Part, id string) *gmail.MessagePart {
	part := &gmail.MessagePart{
		PartId: id, MimeType: p.Type, Filename: p.Filename(), Headers: headers(p.Header, nil),
		Body: &gmail.MessagePartBody{ForceSendFields: []string{"Size"}}, ForceSendFields: always,
	}
	if len(p.Parts) == 0 {
		content := bodyOf(p)
		part.Body.Size = int64(len(content))
		if isInline(p) {
			part.Body.Data = base64.URLEncoding.EncodeToString(content)
		} else {
			part.Body.AttachmentId = attachmentID(id)
		}
	}
	for i, child := range p.Parts {
		part.Parts = append(part.Parts, payload(child, childID(id, i)))
	}
	return part
}

// isInline reports whether the content of a part stands in the payload. Text that is not a file does; everything else
// is fetched by its id.
func isInline(p *rawmail.Part) bool {
	return p.Filename() == "" && (strings.HasPrefix(p.Type, "text/") || strings.HasPrefix(p.Type, "multipart/"))
}

// bodyOf returns the decoded content of a part. Text in the payload is converted to UTF-8, although its Content-Type
// still names the original charset. A file is unchanged.
func bodyOf(p *rawmail.Part) []byte {
	if isInline(p) && strings.HasPrefix(p.Type, "text/") {
		return []byte(p.Text())
	}
	return p.Content()
}

func childID(id string, index int) string {
	return strings.TrimPrefix(id+"."+strconv.Itoa(index), ".")
}

// metadata returns the header of a message, or the named fields of it.
func metadata(p *rawmail.Part, only []string) *gmail.MessagePart {
	return &gmail.MessagePart{MimeType: p.Type, Headers: headers(p.Header, only)}
}

// headers returns the fields with their encoded words decoded.
func headers(header rawmail.Header, only []string) []*gmail.MessagePartHeader {
	var fields []*gmail.MessagePartHeader
	for _, f := range header {
		wanted := len(only) == 0 || slices.ContainsFunc(only, func(name string) bool {
			return strings.EqualFold(name, f.Name)
		})
		if wanted {
			fields = append(fields, &gmail.MessagePartHeader{
				Name: f.Name, Value: rawmail.DecodeText(f.Value), ForceSendFields: []string{"Value"},
			})
		}
	}
	return fields
}

// attachmentID returns the id of a part for attachments.get. It does not include the message, whose id is passed as
// well.
func attachmentID(partID string) string {
	return "ANGj" + base64.RawURLEncoding.EncodeToString([]byte("part "+partID))
}

func findAttachment(root *rawmail.Part, attachment string) *rawmail.Part {
	var find func(p *rawmail.Part, id string) *rawmail.Part
	find = func(p *rawmail.Part, id string) *rawmail.Part {
		if len(p.Parts) == 0 && attachmentID(id) == attachment {
			return p
		}
		for i, child := range p.Parts {
			if found := find(child, childID(id, i)); found != nil {
				return found
			}
		}
		return nil
	}
	return find(root, "")
}
