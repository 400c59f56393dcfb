package mime_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// One sign is enough, and none must be taken for one by mistake.
func TestAutomaticSigns(t *testing.T) {
	for header, want := range map[string]string{
		"From: listserv@x.example":                          "auto_generated",
		"From: Majordomo@x.example":                         "auto_generated",
		"From: autoresponder@x.example":                     "auto_generated",
		"From: no-reply-42@x.example":                       "unattended",
		"From: shop.noreply@x.example":                      "unattended",
		"From: do_not_reply_7@x.example":                    "unattended",
		"From: shop-donotreply@x.example":                   "unattended",
		"From: ne-pas-repondre@x.example":                   "unattended",
		"From: noresponder@x.example":                       "unattended",
		"From: nicht.antworten@x.example":                   "unattended",
		"From: keine-antwort@x.example":                     "unattended",
		"From: Ada <ada@x.example>, No <noreply@x.example>": "unattended",
		"From: replynow@x.example":                          "",
		"Sender: noreply@x.example":                         "unattended",
		"List-Post: NO":                                     "bulk",
		"List-Post:":                                        "",
		"List-Unsubscribe: no":                              "",
	} {
		var got string
		if signs := parseHeader(t, header).Header.Automatic(); len(signs) > 0 {
			got = string(signs[0].Kind)
		}
		require.Equal(t, want, got, header)
	}
}
