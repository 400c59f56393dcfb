package gmailtest

import (
	"context"

	"google.golang.org/api/gmail/v1"
)

// The maximum size in bytes of a sent message, and of an inserted one.
const (
	sentSize   = 35 << 20
	storedSize = 150 << 20
)

// A handler answers one method with a value that becomes JSON, with nil for 204, or with an error.
type handler func(s *Server, ctx context.Context, r *request) (any, error)

// A route describes one method.
type route struct {
	id     Method
	verb   string   // of HTTP
	path   string   // below /gmail/v1/users/{userId}
	units  int      // of the quota, by the table in force since 1 May 2026
	query  []string // the query parameters besides the standard ones
	upload int64    // maximum size of a message under /upload; 0: none
	answer any      // a pointer to the response's type; nil: 204
	handle handler  // nil: the call is answered with 501
}

// routes are the methods of the discovery document, revision 20261005. QUIRK: Google publishes no units for S/MIME,
// client-side encryption and the language; 5 stands for them.
var routes = []route{
	{id: GetProfile, verb: "GET", path: "/profile", units: 1, answer: new(gmail.Profile), handle: (*Server).getProfile},
	{id: Watch, verb: "POST", path: "/watch", units: 100, answer: new(gmail.WatchResponse), handle: (*Server).watch},
	{id: Stop, verb: "POST", path: "/stop", units: 50, handle: (*Server).stop},
	{id: MessagesBatchDelete, verb: "POST", path: "/messages/batchDelete", units: 50, handle: (*Server).batchDelete},
	{id: MessagesBatchModify, verb: "POST", path: "/messages/batchModify", units: 50, handle: (*Server).batchModify},
	{id: MessagesDelete, verb: "DELETE", path: "/messages/{id}", units: 10, handle: (*Server).deleteMessage},
	{id: MessagesGet, verb: "GET", path: "/messages/{id}", units: 20, answer: new(gmail.Message),
		handle: (*Server).getMessage,
		query:  []string{"format", "metadataHeaders"},
	},
	{id: MessagesImport, verb: "POST", path: "/messages/import", units: 25, answer: new(gmail.Message),
		handle: (*Server).importMessage,
		query:  []string{"deleted", "internalDateSource", "neverMarkSpam", "processForCalendar"}, upload: storedSize,
	},
	{id: MessagesInsert, verb: "POST", path: "/messages", units: 25, answer: new(gmail.Message),
		handle: (*Server).insertMessage,
		query:  []string{"deleted", "internalDateSource"}, upload: storedSize,
	},
	{id: MessagesList, verb: "GET", path: "/messages", units: 5, answer: new(gmail.ListMessagesResponse),
		handle: (*Server).listMessages,
		query:  []string{"includeSpamTrash", "labelIds", "maxResults", "pageToken", "q"},
	},
	{id: MessagesModify, verb: "POST", path: "/messages/{id}/modify", units: 5, answer: new(gmail.Message), handle: (*Server).modifyMessage},
	{id: MessagesSend, verb: "POST", path: "/messages/send", units: 100, answer: new(gmail.Message),
		handle: (*Server).sendMessage,
		upload: sentSize,
	},
	{id: MessagesTrash, verb: "POST", path: "/messages/{id}/trash", units: 20, answer: new(gmail.Message), handle: (*Server).trashMessage},
	{id: MessagesUntrash, verb: "POST", path: "/messages/{id}/untrash", units: 5, answer: new(gmail.Message), handle: (*Server).untrashMessage},
	{id: MessagesAttachment, verb: "GET", path: "/messages/{messageId}/attachments/{id}", units: 20, answer: new(gmail.MessagePartBody), handle: (*Server).getAttachment},
	{id: ThreadsDelete, verb: "DELETE", path: "/threads/{id}", units: 20, handle: (*Server).deleteThread},
	{id: ThreadsGet, verb: "GET", path: "/threads/{id}", units: 40, answer: new(gmail.Thread), handle: (*Server).getThread,
		query: []string{"format", "metadataHeaders"},
	},
	{id: ThreadsList, verb: "GET", path: "/threads", units: 10, answer: new(gmail.ListThreadsResponse),
		handle: (*Server).listThreads,
		query:  []string{"includeSpamTrash", "labelIds", "maxResults", "pageToken", "q"},
	},
	{id: ThreadsModify, verb: "POST", path: "/threads/{id}/modify", units: 10, answer: new(gmail.Thread), handle: (*Server).modifyThread},
	{id: ThreadsTrash, verb: "POST", path: "/threads/{id}/trash", units: 40, answer: new(gmail.Thread), handle: (*Server).trashThread},
	{id: ThreadsUntrash, verb: "POST", path: "/threads/{id}/untrash", units: 10, answer: new(gmail.Thread), handle: (*Server).untrashThread},
	{id: LabelsCreate, verb: "POST", path: "/labels", units: 5, answer: new(gmail.Label), handle: (*Server).createLabel},
	{id: LabelsDelete, verb: "DELETE", path: "/labels/{id}", units: 5, handle: (*Server).deleteLabel},
	{id: LabelsGet, verb: "GET", path: "/labels/{id}", units: 1, answer: new(gmail.Label), handle: (*Server).getLabel},
	{id: LabelsList, verb: "GET", path: "/labels", units: 1, answer: new(gmail.ListLabelsResponse), handle: (*Server).listLabels},
	{id: LabelsPatch, verb: "PATCH", path: "/labels/{id}", units: 5, answer: new(gmail.Label), handle: (*Server).patchLabel},
	{id: LabelsUpdate, verb: "PUT", path: "/labels/{id}", units: 5, answer: new(gmail.Label), handle: (*Server).updateLabel},
	{id: DraftsCreate, verb: "POST", path: "/drafts", units: 10, answer: new(gmail.Draft), handle: (*Server).createDraft,
		upload: sentSize,
	},
	{id: DraftsDelete, verb: "DELETE", path: "/drafts/{id}", units: 10, handle: (*Server).deleteDraft},
	{id: DraftsGet, verb: "GET", path: "/drafts/{id}", units: 20, answer: new(gmail.Draft), handle: (*Server).getDraft,
		query: []string{"format"},
	},
	{id: DraftsList, verb: "GET", path: "/drafts", units: 5, answer: new(gmail.ListDraftsResponse),
		handle: (*Server).listDrafts,
		query:  []string{"includeSpamTrash", "maxResults", "pageToken", "q"},
	},
	{id: DraftsSend, verb: "POST", path: "/drafts/send", units: 100, answer: new(gmail.Message),
		handle: (*Server).sendDraft,
		upload: sentSize,
	},
	{id: DraftsUpdate, verb: "PUT", path: "/drafts/{id}", units: 15, answer: new(gmail.Draft),
		handle: (*Server).updateDraft,
		upload: sentSize,
	},
	{id: HistoryList, verb: "GET", path: "/history", units: 2, answer: new(gmail.ListHistoryResponse),
		handle: (*Server).listHistory,
		query:  []string{"historyTypes", "labelId", "maxResults", "pageToken", "startHistoryId"},
	},
	{id: SettingsGetAutoForwarding, verb: "GET", path: "/settings/autoForwarding", units: 1, answer: new(gmail.AutoForwarding), handle: getDocument(kindAuto, gmail.AutoForwarding{Disposition: "leaveInInbox"})},
	{id: SettingsGetImap, verb: "GET", path: "/settings/imap", units: 1, answer: new(gmail.ImapSettings), handle: getDocument(kindIMAP, gmail.ImapSettings{Enabled: true, AutoExpunge: true, ExpungeBehavior: "archive"})},
	{id: SettingsGetLanguage, verb: "GET", path: "/settings/language", units: 1, answer: new(gmail.LanguageSettings), handle: getDocument(kindLanguage, gmail.LanguageSettings{DisplayLanguage: "en"})},
	{id: SettingsGetPop, verb: "GET", path: "/settings/pop", units: 1, answer: new(gmail.PopSettings), handle: getDocument(kindPOP, gmail.PopSettings{AccessWindow: "disabled", Disposition: "leaveInInbox"})},
	{id: SettingsGetVacation, verb: "GET", path: "/settings/vacation", units: 1, answer: new(gmail.VacationSettings), handle: getDocument(kindVacation, gmail.VacationSettings{})},
	{id: SettingsUpdateAutoForwarding, verb: "PUT", path: "/settings/autoForwarding", units: 5, answer: new(gmail.AutoForwarding), handle: updateDocument(kindAuto, checkAuto)},
	{id: SettingsUpdateImap, verb: "PUT", path: "/settings/imap", units: 5, answer: new(gmail.ImapSettings), handle: updateDocument(kindIMAP, checkIMAP)},
	{id: SettingsUpdateLanguage, verb: "PUT", path: "/settings/language", units: 5, answer: new(gmail.LanguageSettings), handle: updateDocument(kindLanguage, checkLanguage)},
	{id: SettingsUpdatePop, verb: "PUT", path: "/settings/pop", units: 100, answer: new(gmail.PopSettings), handle: updateDocument(kindPOP, checkPOP)},
	{id: SettingsUpdateVacation, verb: "PUT", path: "/settings/vacation", units: 5, answer: new(gmail.VacationSettings), handle: updateDocument(kindVacation, checkVacation)},
	{id: SettingsFiltersCreate, verb: "POST", path: "/settings/filters", units: 5, answer: new(gmail.Filter), handle: (*Server).createFilter},
	{id: SettingsFiltersDelete, verb: "DELETE", path: "/settings/filters/{id}", units: 5, handle: (*Server).deleteFilter},
	{id: SettingsFiltersGet, verb: "GET", path: "/settings/filters/{id}", units: 1, answer: new(gmail.Filter), handle: (*Server).getFilter},
	{id: SettingsFiltersList, verb: "GET", path: "/settings/filters", units: 1, answer: new(gmail.ListFiltersResponse), handle: (*Server).listFilters},
	{id: SettingsSendAsCreate, verb: "POST", path: "/settings/sendAs", units: 100, answer: new(gmail.SendAs), handle: (*Server).createSendAs},
	{id: SettingsSendAsDelete, verb: "DELETE", path: "/settings/sendAs/{sendAsEmail}", units: 5, handle: (*Server).deleteSendAs},
	{id: SettingsSendAsGet, verb: "GET", path: "/settings/sendAs/{sendAsEmail}", units: 1, answer: new(gmail.SendAs), handle: (*Server).getSendAs},
	{id: SettingsSendAsList, verb: "GET", path: "/settings/sendAs", units: 1, answer: new(gmail.ListSendAsResponse), handle: (*Server).listSendAs},
	{id: SettingsSendAsPatch, verb: "PATCH", path: "/settings/sendAs/{sendAsEmail}", units: 100, answer: new(gmail.SendAs), handle: (*Server).patchSendAs},
	{id: SettingsSendAsUpdate, verb: "PUT", path: "/settings/sendAs/{sendAsEmail}", units: 100, answer: new(gmail.SendAs), handle: (*Server).updateSendAs},
	{id: SettingsSendAsVerify, verb: "POST", path: "/settings/sendAs/{sendAsEmail}/verify", units: 100, handle: (*Server).verifySendAs},
	{id: SettingsSendAsSmimeInfoDelete, verb: "DELETE", path: "/settings/sendAs/{sendAsEmail}/smimeInfo/{id}", units: 5},
	{id: SettingsSendAsSmimeInfoGet, verb: "GET", path: "/settings/sendAs/{sendAsEmail}/smimeInfo/{id}", units: 5, answer: new(gmail.SmimeInfo)},
	{id: SettingsSendAsSmimeInfoInsert, verb: "POST", path: "/settings/sendAs/{sendAsEmail}/smimeInfo", units: 5, answer: new(gmail.SmimeInfo)},
	{id: SettingsSendAsSmimeInfoList, verb: "GET", path: "/settings/sendAs/{sendAsEmail}/smimeInfo", units: 5, answer: new(gmail.ListSmimeInfoResponse)},
	{id: SettingsSendAsSmimeInfoSetDefault, verb: "POST", path: "/settings/sendAs/{sendAsEmail}/smimeInfo/{id}/setDefault", units: 5},
	{id: SettingsForwardingAddressesCreate, verb: "POST", path: "/settings/forwardingAddresses", units: 100, answer: new(gmail.ForwardingAddress), handle: (*Server).createForwarding},
	{id: SettingsForwardingAddressesDelete, verb: "DELETE", path: "/settings/forwardingAddresses/{forwardingEmail}", units: 5, handle: deleteAddress(kindForwarding, "forwardingEmail")},
	{id: SettingsForwardingAddressesGet, verb: "GET", path: "/settings/forwardingAddresses/{forwardingEmail}", units: 1, answer: new(gmail.ForwardingAddress), handle: getAddress[gmail.ForwardingAddress](kindForwarding, "forwardingEmail")},
	{id: SettingsForwardingAddressesList, verb: "GET", path: "/settings/forwardingAddresses", units: 1,
		answer: new(gmail.ListForwardingAddressesResponse),
		handle: listAddresses(kindForwarding, func(all []*gmail.ForwardingAddress) any {
			return &gmail.ListForwardingAddressesResponse{ForwardingAddresses: all}
		})},
	{id: SettingsDelegatesCreate, verb: "POST", path: "/settings/delegates", units: 100, answer: new(gmail.Delegate), handle: (*Server).createDelegate},
	{id: SettingsDelegatesDelete, verb: "DELETE", path: "/settings/delegates/{delegateEmail}", units: 5, handle: deleteAddress(kindDelegate, "delegateEmail")},
	{id: SettingsDelegatesGet, verb: "GET", path: "/settings/delegates/{delegateEmail}", units: 1, answer: new(gmail.Delegate), handle: getAddress[gmail.Delegate](kindDelegate, "delegateEmail")},
	{id: SettingsDelegatesList, verb: "GET", path: "/settings/delegates", units: 1, answer: new(gmail.ListDelegatesResponse), handle: listAddresses(kindDelegate, func(all []*gmail.Delegate) any { return &gmail.ListDelegatesResponse{Delegates: all} })},
	{id: SettingsCseIdentitiesCreate, verb: "POST", path: "/settings/cse/identities", units: 5, answer: new(gmail.CseIdentity)},
	{id: SettingsCseIdentitiesDelete, verb: "DELETE", path: "/settings/cse/identities/{cseEmailAddress}", units: 5},
	{id: SettingsCseIdentitiesGet, verb: "GET", path: "/settings/cse/identities/{cseEmailAddress}", units: 5, answer: new(gmail.CseIdentity)},
	{id: SettingsCseIdentitiesList, verb: "GET", path: "/settings/cse/identities", units: 5,
		answer: new(gmail.ListCseIdentitiesResponse),
		query:  []string{"pageSize", "pageToken"},
	},
	{id: SettingsCseIdentitiesPatch, verb: "PATCH", path: "/settings/cse/identities/{emailAddress}", units: 5, answer: new(gmail.CseIdentity)},
	{id: SettingsCseKeypairsCreate, verb: "POST", path: "/settings/cse/keypairs", units: 5, answer: new(gmail.CseKeyPair),
		query: []string{"chainValidation"},
	},
	{id: SettingsCseKeypairsDisable, verb: "POST", path: "/settings/cse/keypairs/{keyPairId}:disable", units: 5, answer: new(gmail.CseKeyPair)},
	{id: SettingsCseKeypairsEnable, verb: "POST", path: "/settings/cse/keypairs/{keyPairId}:enable", units: 5, answer: new(gmail.CseKeyPair)},
	{id: SettingsCseKeypairsGet, verb: "GET", path: "/settings/cse/keypairs/{keyPairId}", units: 5, answer: new(gmail.CseKeyPair)},
	{id: SettingsCseKeypairsList, verb: "GET", path: "/settings/cse/keypairs", units: 5,
		answer: new(gmail.ListCseKeyPairsResponse),
		query:  []string{"pageSize", "pageToken"},
	},
	{id: SettingsCseKeypairsObliterate, verb: "POST", path: "/settings/cse/keypairs/{keyPairId}:obliterate", units: 5},
}

func routeOf(id Method) *route {
	for i := range routes {
		if routes[i].id == id {
			return &routes[i]
		}
	}
	return nil
}
