package gmailapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
)

// Gmail's results stand below its Received field; what stands further down is the sender's.
func TestAuthServerIsGmails(t *testing.T) {
	received := "Received: by 2002:a05:1 with SMTP id x\nReceived: from a (b) by mx.google.com with ESMTPS id y\n"
	for header, want := range map[string]bool{
		received + "Received-SPF: pass\nAuthentication-Results: mx.google.com; dmarc=pass header.from=shop.example\n": true,
		received + "Subject: x\nAuthentication-Results: mx.google.com; dmarc=pass header.from=shop.example\n":         false,
	} {
		m, err := mime.ParseBytes([]byte(header+"From: news@shop.example\n\nx"), nil)
		require.NoError(t, err)
		_, ok := authres.VerifiedFrom(m, gmailapi.AuthServer())
		require.Equal(t, want, ok, header)
	}
}
