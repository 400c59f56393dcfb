package sample

import "time"

// A category is a kind of message.
type category string

const (
	newsletter   category = "newsletter"
	receipt      category = "receipt"
	order        category = "order"
	thread       category = "thread"
	invitation   category = "calendar"
	bounce       category = "bounce"
	mailingList  category = "mailing-list"
	charset      category = "charset"
	attachment   category = "attachment"
	injection    category = "injection"
	spoof        category = "spoof"
	autoReply    category = "auto-reply"
	social       category = "social"
	security     category = "security"
	personal     category = "personal"
	travel       category = "travel"
	notification category = "notification"
	spam         category = "spam"
	draft        category = "draft"
	sent         category = "sent"
	broken       category = "broken"
)

// A mail is one message of the sample: the name of its file, and its state in the mailbox.
type mail struct {
	name     string
	category category
	received time.Time
	labels   string // names separated by blanks
}

func at(month time.Month, day, hour, minute int) time.Time {
	return time.Date(2026, month, day, hour, minute, 0, 0, time.UTC)
}

// mails are in the order of arrival. The order is part of a message's identity: add new ones at the end.
var mails = []mail{
	{"newsletter-harbour", newsletter, at(1, 5, 6, 30), "INBOX UNREAD"},
	{"receipt-coffee", receipt, at(1, 6, 8, 4), "INBOX"},
	{"newsletter-compiler", newsletter, at(1, 7, 9, 0), "INBOX"},
	{"charset-iso-2022-jp", charset, at(1, 8, 3, 12), "INBOX UNREAD"},
	{"newsletter-seeds", newsletter, at(1, 9, 5, 45), "INBOX UNREAD CATEGORY_PROMOTIONS"},
	{"charset-koi8-r", charset, at(1, 10, 12, 40), "INBOX UNREAD"},
	{"social-connection", social, at(1, 11, 17, 17), "INBOX UNREAD CATEGORY_SOCIAL"},
	{"newsletter-museum", newsletter, at(1, 12, 8, 15), "INBOX UNREAD"},
	{"invoice-ledgerly", receipt, at(1, 13, 2, 0), "INBOX UNREAD"},
	{"charset-gb18030", charset, at(1, 14, 1, 30), "INBOX UNREAD"},
	{"newsletter-podcast", newsletter, at(1, 15, 4, 0), "INBOX UNREAD CATEGORY_UPDATES"},
	{"charset-windows-1256", charset, at(1, 16, 9, 5), "INBOX UNREAD"},
	{"spam-lottery", spam, at(1, 17, 0, 13), "SPAM UNREAD"},
	{"charset-euc-kr", charset, at(1, 18, 6, 50), "INBOX UNREAD"},
	{"invoice-electricity", receipt, at(1, 19, 7, 30), "INBOX UNREAD"},
	{"newsletter-without-list-id", newsletter, at(1, 20, 10, 10), "INBOX UNREAD"},
	{"order-confirmed", order, at(1, 21, 19, 2), "INBOX"},
	{"trashed-offer", newsletter, at(1, 22, 6, 0), "TRASH"},
	{"order-shipped", order, at(1, 22, 15, 40), "INBOX"},
	{"charset-windows-1255", charset, at(1, 23, 7, 15), "INBOX UNREAD"},
	{"shipping-out", order, at(1, 24, 7, 11), "INBOX CATEGORY_UPDATES"},
	{"shipping-delivered", order, at(1, 24, 11, 52), "INBOX CATEGORY_UPDATES"},
	{"charset-iso-8859-7", charset, at(1, 25, 10, 25), "INBOX UNREAD"},
	{"social-mention", social, at(1, 26, 21, 3), "INBOX UNREAD CATEGORY_SOCIAL"},
	{"list-question", mailingList, at(1, 27, 20, 13), "INBOX UNREAD CATEGORY_FORUMS"},
	{"list-answer", mailingList, at(1, 27, 22, 40), "INBOX UNREAD CATEGORY_FORUMS"},
	{"charset-emoji", charset, at(1, 28, 19, 33), "INBOX UNREAD"},
	{"list-digest", mailingList, at(1, 29, 3, 0), "INBOX UNREAD CATEGORY_FORUMS"},
	{"charset-undeclared", charset, at(1, 30, 8, 8), "INBOX UNREAD"},
	{"receipt-donation", receipt, at(1, 31, 18, 22), "INBOX Receipts"},
	{"spam-crypto", spam, at(2, 1, 2, 44), "SPAM UNREAD"},
	{"picnic-1", thread, at(2, 1, 10, 0), "INBOX STARRED Family"},
	{"picnic-2", thread, at(2, 1, 12, 31), "INBOX Family"},
	{"picnic-3", thread, at(2, 1, 18, 5), "SENT"},
	{"picnic-4", thread, at(2, 2, 7, 48), "INBOX UNREAD"},
	{"newsletter-charity", newsletter, at(2, 2, 11, 20), "INBOX"},
	{"bounce-unknown", bounce, at(2, 3, 9, 1), "INBOX UNREAD"},
	{"security-reset", security, at(2, 3, 20, 20), "INBOX UNREAD"},
	{"social-photo", social, at(2, 4, 18, 45), "INBOX CATEGORY_SOCIAL"},
	{"bounce-full", bounce, at(2, 4, 22, 15), "INBOX"},
	{"security-signin", security, at(2, 5, 4, 54), "INBOX UNREAD IMPORTANT"},
	{"receipt-app", receipt, at(2, 5, 21, 47), "INBOX UNREAD"},
	{"list-announce", mailingList, at(2, 6, 17, 0), "INBOX"},
	{"list-patch", mailingList, at(2, 7, 11, 11), "INBOX UNREAD"},
	{"attachment-inline-image", attachment, at(2, 8, 16, 16), "INBOX UNREAD STARRED"},
	{"work-1", thread, at(2, 9, 8, 55), "INBOX Work"},
	{"work-2", thread, at(2, 9, 9, 40), "SENT"},
	{"autoreply-vacation", autoReply, at(2, 9, 9, 41), "INBOX"},
	{"work-3", thread, at(2, 9, 14, 12), "INBOX UNREAD Work"},
	{"work-4", thread, at(2, 10, 10, 1), "INBOX UNREAD"},
	{"invitation-review", invitation, at(2, 10, 11, 0), "INBOX UNREAD"},
	{"security-code", security, at(2, 10, 19, 19), "INBOX"},
	{"invitation-moved", invitation, at(2, 11, 9, 20), "INBOX UNREAD"},
	{"receipt-refund", receipt, at(2, 11, 13, 5), "INBOX UNREAD"},
	{"notification-build", notification, at(2, 12, 2, 22), "INBOX UNREAD"},
	{"charset-wrong", charset, at(2, 12, 14, 44), "INBOX UNREAD"},
	{"attachment-rfc2231-name", attachment, at(2, 13, 9, 59), "INBOX UNREAD"},
	{"attachment-forwarded", attachment, at(2, 14, 8, 20), "INBOX UNREAD"},
	{"personal-note-to-self", personal, at(2, 14, 23, 10), "INBOX SENT"},
	{"attachment-rfc2047-name", attachment, at(2, 15, 12, 0), "INBOX UNREAD"},
	{"injection-display-none", injection, at(2, 16, 3, 14), "INBOX UNREAD"},
	{"injection-zero-width", injection, at(2, 16, 4, 20), "INBOX UNREAD"},
	{"injection-white-on-white", injection, at(2, 16, 5, 45), "INBOX UNREAD"},
	{"shipping-delayed", order, at(2, 17, 16, 30), "INBOX UNREAD"},
	{"social-group", social, at(2, 18, 5, 30), "INBOX UNREAD CATEGORY_SOCIAL"},
	{"invitation-accepted", invitation, at(2, 18, 12, 0), "INBOX"},
	{"injection-plain", injection, at(2, 19, 13, 37), "INBOX UNREAD"},
	{"injection-tool-call", injection, at(2, 19, 15, 0), "INBOX UNREAD"},
	{"invitation-cancelled", invitation, at(2, 20, 16, 0), "INBOX UNREAD"},
	{"personal-neighbour", personal, at(2, 20, 18, 40), "INBOX STARRED"},
	{"injection-tag-characters", injection, at(2, 21, 2, 2), "INBOX UNREAD"},
	{"travel-ferry", travel, at(2, 21, 14, 0), "INBOX UNREAD Travel"},
	{"travel-hotel", travel, at(2, 21, 14, 32), "INBOX UNREAD"},
	{"injection-tiny-comment", injection, at(2, 22, 10, 30), "INBOX UNREAD"},
	{"spoof-display-name", spoof, at(2, 23, 7, 0), "INBOX UNREAD"},
	{"spoof-lookalike", spoof, at(2, 23, 8, 30), "INBOX UNREAD"},
	{"spoof-failed-auth", spoof, at(2, 24, 6, 6), "INBOX UNREAD"},
	{"spoof-reply-to", spoof, at(2, 24, 9, 15), "INBOX UNREAD"},
	{"spam-seo", spam, at(2, 24, 11, 0), "INBOX UNREAD"},
	{"notification-disk", notification, at(2, 25, 1, 1), "INBOX UNREAD IMPORTANT"},
	{"sent-parcel", sent, at(2, 25, 12, 10), "SENT"},
	{"autoreply-ticket", autoReply, at(2, 25, 12, 12), "INBOX UNREAD"},
	{"spoof-bidi-name", spoof, at(2, 25, 23, 59), "INBOX UNREAD"},
	{"bounce-refused", bounce, at(2, 26, 6, 40), "INBOX UNREAD"},
	{"personal-landlord", personal, at(2, 26, 10, 0), "INBOX UNREAD"},
	{"notification-backup", notification, at(2, 27, 5, 0), "INBOX"},
	{"security-verify", security, at(2, 27, 15, 25), "INBOX UNREAD"},
	{"draft-landlord", draft, at(2, 27, 21, 30), "DRAFT"},
	{"broken-no-header", broken, at(2, 28, 3, 0), "INBOX UNREAD"},
	{"broken-header-garbage", broken, at(2, 28, 3, 10), "INBOX UNREAD"},
	{"broken-cut-off", broken, at(2, 28, 3, 20), "INBOX UNREAD"},
	{nestedName, broken, at(2, 28, 3, 30), "INBOX UNREAD"},
	{"personal-question", personal, at(2, 28, 9, 9), "INBOX UNREAD IMPORTANT"},
}
