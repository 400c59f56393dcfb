package gmailtest

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/rawmail"
	"github.com/postroom-go/postroom/internal/dbquery"
)

func (s *Server) getProfile(ctx context.Context, _ *http.Request) (any, error) {
	p, err := s.profile(ctx)
	return &gmail.Profile{
		EmailAddress: p.Email, HistoryId: p.HistoryID, MessagesTotal: p.Messages, ThreadsTotal: p.Threads,
		ForceSendFields: []string{"MessagesTotal", "ThreadsTotal"},
	}, err
}

// A cursor is a place in a list that is sorted by time, newest first.
type cursor struct {
	date int64
	id   string
}

func (c cursor) token() string { return fmt.Sprintf("%d-%s", c.date, c.id) }

func parseCursor(token string) (cursor, error) {
	date, id, ok := strings.Cut(token, "-")
	n, err := strconv.ParseInt(date, 10, 64)
	if !ok || err != nil {
		return cursor{}, invalidArgument("Invalid pageToken")
	}
	return cursor{date: n, id: id}, nil
}

// A page holds the parameters of messages.list and threads.list.
type page struct {
	filter
	limit int64
	after *cursor // nil: from the newest
}

func (s *Server) parsePage(ctx context.Context, query url.Values) (page, error) {
	var p page
	var err error
	if p.limit, err = maxResults(query.Get("maxResults"), 500); err != nil {
		return p, err
	}
	if p.filter, err = s.parseFilter(ctx, query); err != nil {
		return p, err
	}
	if token := query.Get("pageToken"); token != "" {
		after, err := parseCursor(token)
		if err != nil {
			return p, err
		}
		p.after = &after
	}
	return p, nil
}

func (s *Server) listMessages(ctx context.Context, r *http.Request) (any, error) {
	p, err := s.parsePage(ctx, r.URL.Query())
	if err != nil {
		return nil, err
	}
	response := &gmail.ListMessagesResponse{ForceSendFields: []string{"ResultSizeEstimate"}}
	count := countMessagesWhere + p.where()
	if err := dbquery.Get(ctx, s.db.Reader(), &response.ResultSizeEstimate, count, p.args...); err != nil {
		return nil, err
	}
	if p.after != nil {
		p.add("(m.internal_date, m.id) < (%s, %s)", p.after.date, p.after.id)
	}
	limit := p.arg(p.limit + 1)
	var rows []messageRow
	query := selectMessagesWhere + p.where() + "\nORDER BY m.internal_date DESC, m.id DESC\nLIMIT " + limit
	if err := dbquery.Select(ctx, s.db.Reader(), &rows, query, p.args...); err != nil {
		return nil, err
	}
	if int64(len(rows)) > p.limit {
		rows = rows[:p.limit]
		last := rows[len(rows)-1]
		response.NextPageToken = cursor{last.InternalDate, last.ID}.token()
	}
	for _, row := range rows {
		response.Messages = append(response.Messages, &gmail.Message{Id: row.ID, ThreadId: row.ThreadID})
	}
	return response, nil
}

// A format selects the parts of a message to return.
type format struct {
	name    string
	headers []string // of format metadata; empty: all
}

func parseFormat(query url.Values) (format, error) {
	f := format{name: query.Get("format"), headers: query["metadataHeaders"]}
	switch f.name {
	case "":
		f.name = "full"
	case "minimal", "metadata", "full", "raw":
	default:
		return f, invalidArgument("Invalid value at 'format': %q", f.name)
	}
	return f, nil
}

func (s *Server) getMessage(ctx context.Context, r *http.Request) (any, error) {
	f, err := parseFormat(r.URL.Query())
	if err != nil {
		return nil, err
	}
	row, err := loadMessage(ctx, s.db.Reader(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return f.render(ctx, s.db.Reader(), &row)
}

// render gives a message in the format.
func (f format) render(ctx context.Context, q dbquery.Querier, row *messageRow) (*gmail.Message, error) {
	m := row.ref()
	m.HistoryId, m.InternalDate, m.SizeEstimate, m.Snippet = row.HistoryID, row.InternalDate, row.Size, row.Snippet
	m.ForceSendFields = []string{"Snippet", "InternalDate"}
	if f.name == "minimal" {
		return m, nil
	}
	raw, err := loadRaw(ctx, q, row.ID)
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

func loadRaw(ctx context.Context, q dbquery.Querier, id string) ([]byte, error) {
	var raw []byte
	err := dbquery.Get(ctx, q, &raw, selectRaw, id)
	return raw, foundOr404(err)
}

func (s *Server) getAttachment(ctx context.Context, r *http.Request) (any, error) {
	raw, err := loadRaw(ctx, s.db.Reader(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	part := findAttachment(rawmail.Parse(raw), r.PathValue("attachment"))
	if part == nil {
		return nil, invalidArgument("Invalid attachment token")
	}
	content := part.Content()
	return &gmail.MessagePartBody{
		Data: base64.URLEncoding.EncodeToString(content), Size: int64(len(content)),
		ForceSendFields: []string{"Size"},
	}, nil
}
