package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNoLineShowsASecret(t *testing.T) {
	for line, want := range map[string]string{
		`token = "hunter2"`:                               `token = •••••••••`,
		`  client_secret="hunter2" # mine`:                `  client_secret=••••••••• • ••••`,
		`gmail = {address = "a@b.example", token = "h2"}`: `gmail = {address = "a@b.example", token = •••••`,
		`gmail.token = "hunter2`:                          `gmail.token = ••••••••`,
		`"token" = 'hunter2'`:                             `"token" = •••••••••`,
		`Token: hunter2`:                                  `Token: •••••••`,
		`token hunter2`:                                   `token •••••••`,
		`api_key = "env:LLM_API_KEY"`:                     `api_key = "env:LLM_API_KEY"`,
		`token = ""`:                                      `token = ••`,
		`database = "postgres://ada:hun@ter2@host/mail"`:  `database = "postgres://••••••••••••@host/mail"`,
		`database = "postgres://host/mail?password=h2"`:   `database = ••••••••••••••••••••••••••••••••••`,
		`database = "postgres://host/mail"`:               `database = "postgres://host/mail"`,
		`cache = "redis://:hunter2@127.0.0.1:x/0"`:        `cache = "redis://••••••••@127.0.0.1:x/0"`,
		`[gmail.token]`:                                   `[gmail.token]`,
		`tokens = "keychain"`:                             `tokens = "keychain"`,
		`port = 1`:                                        `port = 1`,
	} {
		assert.Equal(t, want, withoutSecret(line), line)
	}
}
