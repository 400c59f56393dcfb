package gmailtest

import (
	"github.com/postroom-go/postroom/gmail/gmailtest/faults"
	"github.com/postroom-go/postroom/gmail/gmailtest/oauth"
)

// A Method is a method of the API by Google's name for it, without "gmail.users.", or an endpoint of OAuth.
type Method = faults.Method

// The methods of the API. Methods that the server does not implement answer 501 with their name.
const (
	GetProfile Method = "getProfile"
	Watch      Method = "watch"
	Stop       Method = "stop"

	MessagesBatchDelete Method = "messages.batchDelete"
	MessagesBatchModify Method = "messages.batchModify"
	MessagesDelete      Method = "messages.delete"
	MessagesGet         Method = "messages.get"
	MessagesImport      Method = "messages.import"
	MessagesInsert      Method = "messages.insert"

	// MessagesList supports every operator of Gmail's search language; docs/gmailtest.md lists them. Its estimate of the
	// number of results ends at 201, like Gmail's.
	MessagesList       Method = "messages.list"
	MessagesModify     Method = "messages.modify"
	MessagesSend       Method = "messages.send"
	MessagesTrash      Method = "messages.trash"
	MessagesUntrash    Method = "messages.untrash"
	MessagesAttachment Method = "messages.attachments.get"

	ThreadsDelete  Method = "threads.delete"
	ThreadsGet     Method = "threads.get"
	ThreadsList    Method = "threads.list"
	ThreadsModify  Method = "threads.modify"
	ThreadsTrash   Method = "threads.trash"
	ThreadsUntrash Method = "threads.untrash"

	LabelsCreate Method = "labels.create"
	LabelsDelete Method = "labels.delete"
	LabelsGet    Method = "labels.get"
	LabelsList   Method = "labels.list"
	LabelsPatch  Method = "labels.patch"
	LabelsUpdate Method = "labels.update"

	DraftsCreate Method = "drafts.create"
	DraftsDelete Method = "drafts.delete"
	DraftsGet    Method = "drafts.get"
	DraftsList   Method = "drafts.list"
	DraftsSend   Method = "drafts.send"
	DraftsUpdate Method = "drafts.update"

	HistoryList Method = "history.list"

	SettingsGetAutoForwarding    Method = "settings.getAutoForwarding"
	SettingsGetImap              Method = "settings.getImap"
	SettingsGetLanguage          Method = "settings.getLanguage"
	SettingsGetPop               Method = "settings.getPop"
	SettingsGetVacation          Method = "settings.getVacation"
	SettingsUpdateAutoForwarding Method = "settings.updateAutoForwarding"
	SettingsUpdateImap           Method = "settings.updateImap"
	SettingsUpdateLanguage       Method = "settings.updateLanguage"
	SettingsUpdatePop            Method = "settings.updatePop"
	SettingsUpdateVacation       Method = "settings.updateVacation"

	SettingsFiltersCreate Method = "settings.filters.create"
	SettingsFiltersDelete Method = "settings.filters.delete"
	SettingsFiltersGet    Method = "settings.filters.get"
	SettingsFiltersList   Method = "settings.filters.list"

	SettingsSendAsCreate              Method = "settings.sendAs.create"
	SettingsSendAsDelete              Method = "settings.sendAs.delete"
	SettingsSendAsGet                 Method = "settings.sendAs.get"
	SettingsSendAsList                Method = "settings.sendAs.list"
	SettingsSendAsPatch               Method = "settings.sendAs.patch"
	SettingsSendAsUpdate              Method = "settings.sendAs.update"
	SettingsSendAsVerify              Method = "settings.sendAs.verify"
	SettingsSendAsSmimeInfoDelete     Method = "settings.sendAs.smimeInfo.delete"
	SettingsSendAsSmimeInfoGet        Method = "settings.sendAs.smimeInfo.get"
	SettingsSendAsSmimeInfoInsert     Method = "settings.sendAs.smimeInfo.insert"
	SettingsSendAsSmimeInfoList       Method = "settings.sendAs.smimeInfo.list"
	SettingsSendAsSmimeInfoSetDefault Method = "settings.sendAs.smimeInfo.setDefault"

	SettingsForwardingAddressesCreate Method = "settings.forwardingAddresses.create"
	SettingsForwardingAddressesDelete Method = "settings.forwardingAddresses.delete"
	SettingsForwardingAddressesGet    Method = "settings.forwardingAddresses.get"
	SettingsForwardingAddressesList   Method = "settings.forwardingAddresses.list"

	SettingsDelegatesCreate Method = "settings.delegates.create"
	SettingsDelegatesDelete Method = "settings.delegates.delete"
	SettingsDelegatesGet    Method = "settings.delegates.get"
	SettingsDelegatesList   Method = "settings.delegates.list"

	SettingsCseIdentitiesCreate   Method = "settings.cse.identities.create"
	SettingsCseIdentitiesDelete   Method = "settings.cse.identities.delete"
	SettingsCseIdentitiesGet      Method = "settings.cse.identities.get"
	SettingsCseIdentitiesList     Method = "settings.cse.identities.list"
	SettingsCseIdentitiesPatch    Method = "settings.cse.identities.patch"
	SettingsCseKeypairsCreate     Method = "settings.cse.keypairs.create"
	SettingsCseKeypairsDisable    Method = "settings.cse.keypairs.disable"
	SettingsCseKeypairsEnable     Method = "settings.cse.keypairs.enable"
	SettingsCseKeypairsGet        Method = "settings.cse.keypairs.get"
	SettingsCseKeypairsList       Method = "settings.cse.keypairs.list"
	SettingsCseKeypairsObliterate Method = "settings.cse.keypairs.obliterate"
)

// The endpoints of OAuth as methods of [Fault] and [Call]. They cost no units.
const (
	OAuthConsent  Method = oauth.Consent
	OAuthToken    Method = oauth.Token
	OAuthRevoke   Method = oauth.Revoke
	OAuthUserInfo Method = "oauth2.userinfo"
	OAuthKeys     Method = oauth.Keys
	OAuthConfig   Method = oauth.Configuration
)

// Units returns the quota units that one call of a method costs; 0 for a method that the API does not have.
func Units(method Method) int {
	if route := routeOf(method); route != nil {
		return route.units
	}
	return 0
}
