package gmailapi

import "net/url"

// PageOf returns the address at which Gmail shows a message, or a thread, of a mailbox to a person.
func PageOf(mailbox, id string) string {
	u := url.URL{Scheme: "https", Host: "mail.google.com", Path: "/mail/",
		RawQuery: url.Values{"authuser": {mailbox}}.Encode(), Fragment: "all/" + id}
	return u.String()
}
