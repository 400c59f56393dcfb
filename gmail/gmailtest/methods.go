package gmailtest

import (
	"context"
	"net/http"
)

// A Method is one call of the API by the name Google gives it, without "gmail.users.".
type Method string

// The methods of the server.
const (
	GetProfile Method = "getProfile"

	// MessagesList takes labelIds, includeSpamTrash, maxResults, pageToken, and in q the operators rfc822msgid:, after:,
	// before:, newer_than:, older_than:, in:, label:, is: and category:, each with "-" before it to negate. Any other
	// query is refused with 400. Days (yyyy/mm/dd) begin at midnight Pacific standard time.
	MessagesList        Method = "messages.list"
	MessagesGet         Method = "messages.get"
	MessagesAttachment  Method = "messages.attachments.get"
	MessagesModify      Method = "messages.modify"
	MessagesBatchModify Method = "messages.batchModify"
	MessagesTrash       Method = "messages.trash"
	MessagesUntrash     Method = "messages.untrash"
	MessagesDelete      Method = "messages.delete"
	MessagesBatchDelete Method = "messages.batchDelete"
	MessagesImport      Method = "messages.import"
	MessagesInsert      Method = "messages.insert"
	MessagesSend        Method = "messages.send"

	LabelsList   Method = "labels.list"
	LabelsGet    Method = "labels.get"
	LabelsCreate Method = "labels.create"
	LabelsUpdate Method = "labels.update"
	LabelsPatch  Method = "labels.patch"
	LabelsDelete Method = "labels.delete"

	ThreadsList Method = "threads.list"
	ThreadsGet  Method = "threads.get"

	HistoryList Method = "history.list"
)

// units is Google's cost table, in force since 1 May 2026.
var units = map[Method]int{
	GetProfile:          1,
	MessagesList:        5,
	MessagesGet:         20,
	MessagesAttachment:  20,
	MessagesModify:      5,
	MessagesBatchModify: 50,
	MessagesTrash:       20,
	MessagesUntrash:     5,
	MessagesDelete:      10,
	MessagesBatchDelete: 50,
	MessagesImport:      25,
	MessagesInsert:      25,
	MessagesSend:        100,
	LabelsList:          1,
	LabelsGet:           1,
	LabelsCreate:        5,
	LabelsUpdate:        5,
	LabelsPatch:         5,
	LabelsDelete:        5,
	ThreadsList:         10,
	ThreadsGet:          40,
	HistoryList:         2,
}

// Units returns the quota units that one call of the method costs.
func (m Method) Units() int { return units[m] }

// A handler answers one method: with a value that becomes JSON, nil for 204, or an error.
type handler func(ctx context.Context, r *http.Request) (any, error)

// A route is the pattern and the handler of a method, below /gmail/v1/users/{user}.
type route struct {
	pattern string
	handle  handler
}

func (s *Server) routes() map[Method]route {
	return map[Method]route{
		GetProfile:          {"GET /profile", s.getProfile},
		MessagesList:        {"GET /messages", s.listMessages},
		MessagesGet:         {"GET /messages/{id}", s.getMessage},
		MessagesAttachment:  {"GET /messages/{id}/attachments/{attachment}", s.getAttachment},
		MessagesModify:      {"POST /messages/{id}/modify", s.modifyMessage},
		MessagesBatchModify: {"POST /messages/batchModify", s.batchModify},
		MessagesTrash:       {"POST /messages/{id}/trash", s.trashMessage},
		MessagesUntrash:     {"POST /messages/{id}/untrash", s.untrashMessage},
		MessagesDelete:      {"DELETE /messages/{id}", s.deleteMessage},
		MessagesBatchDelete: {"POST /messages/batchDelete", s.batchDelete},
		MessagesImport:      {"POST /messages/import", s.importMessage},
		MessagesInsert:      {"POST /messages", s.insertMessage},
		MessagesSend:        {"POST /messages/send", s.sendMessage},
		LabelsList:          {"GET /labels", s.listLabels},
		LabelsGet:           {"GET /labels/{id}", s.getLabel},
		LabelsCreate:        {"POST /labels", s.createLabel},
		LabelsUpdate:        {"PUT /labels/{id}", s.updateLabel},
		LabelsPatch:         {"PATCH /labels/{id}", s.patchLabel},
		LabelsDelete:        {"DELETE /labels/{id}", s.deleteLabel},
		ThreadsList:         {"GET /threads", s.listThreads},
		ThreadsGet:          {"GET /threads/{id}", s.getThread},
		HistoryList:         {"GET /history", s.listHistory},
	}
}
