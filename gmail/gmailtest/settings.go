package gmailtest

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"golang.org/x/text/language"
	"google.golang.org/api/gmail/v1"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/queue"
)

// The kinds of settings.
const (
	kindFilter     = "filter"
	kindSendAs     = "sendAs"
	kindForwarding = "forwarding"
	kindDelegate   = "delegate"
	kindVacation   = "vacation"
	kindIMAP       = "imap"
	kindPOP        = "pop"
	kindLanguage   = "language"
	kindAuto       = "autoForwarding"
)

const (
	upsertSetting = `
INSERT INTO settings (account, kind, key, value)
VALUES ($1, $2, $3, $4)
ON CONFLICT (account, kind, key) DO UPDATE
SET value = excluded.value`

	selectSetting = `
SELECT value
FROM settings
WHERE account = $1
  AND kind = $2
  AND key = $3`

	selectSettings = `
SELECT value
FROM settings
WHERE account = $1
  AND kind = $2
ORDER BY key`

	deleteSetting = `
DELETE FROM settings
WHERE account = $1
  AND kind = $2
  AND key = $3`
)

// loadSetting reads a setting into a value. The error is sql.ErrNoRows if there is none.
func loadSetting(ctx context.Context, q dbquery.Querier, a *Account, kind, key string, into any) error {
	var text string
	if err := dbquery.Get(ctx, q, &text, selectSetting, a.id, kind, key); err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), into)
}

// loadSettings reads all settings of a kind, in the order of their keys.
func loadSettings[T any](ctx context.Context, q dbquery.Querier, a *Account, kind string) ([]*T, error) {
	var texts []string
	if err := dbquery.Select(ctx, q, &texts, selectSettings, a.id, kind); err != nil {
		return nil, err
	}
	values := make([]*T, len(texts))
	for i, text := range texts {
		values[i] = new(T)
		if err := json.Unmarshal([]byte(text), values[i]); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func saveSetting(ctx context.Context, tx queue.Tx, a *Account, kind, key string, value any) error {
	text, err := json.Marshal(value)
	if err == nil {
		_, err = tx.ExecContext(ctx, upsertSetting, a.id, kind, key, string(text))
	}
	return err
}

// removeSetting answers 404 if there is none.
func removeSetting(ctx context.Context, tx queue.Tx, a *Account, kind, key string) error {
	n, err := dbquery.Exec(ctx, tx, deleteSetting, a.id, kind, key)
	if err == nil && n == 0 {
		return wire.NotFound()
	}
	return err
}

// getDocument answers with a setting of which there is only one, or with its default.
func getDocument[T any](kind string, preset T) handler {
	return func(s *Server, ctx context.Context, r *request) (any, error) {
		value := preset
		if err := loadSetting(ctx, s.db.Reader(), r.account, kind, "", &value); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
		return &value, nil
	}
}

// updateDocument checks and replaces a setting of which there is only one.
func updateDocument[T any](kind string, check func(ctx context.Context, tx queue.Tx, a *Account,
	value *T) error) handler {
	return func(s *Server, ctx context.Context, r *request) (any, error) {
		value := new(T)
		if err := r.readJSON(value); err != nil {
			return nil, err
		}
		return value, s.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
			if err := check(ctx, tx, r.account, value); err != nil {
				return err
			}
			return saveSetting(ctx, tx, r.account, kind, "", value)
		})
	}
}

// oneOf refuses a value that is not permitted in the field. Empty means the first.
func oneOf(field string, value *string, values ...string) error {
	if *value == "" {
		*value = values[0]
	}
	if !slices.Contains(values, *value) {
		return wire.InvalidArgument("Invalid value at '%s': %q", field, *value)
	}
	return nil
}

func checkVacation(_ context.Context, _ queue.Tx, _ *Account, v *gmail.VacationSettings) error {
	switch {
	case v.EnableAutoReply && v.ResponseSubject == "" && v.ResponseBodyPlainText == "" && v.ResponseBodyHtml == "":
		return wire.InvalidArgument("Either the response subject or the response body must be nonempty")
	case v.StartTime != 0 && v.EndTime != 0 && v.StartTime >= v.EndTime:
		return wire.InvalidArgument("Start time must precede end time")
	}
	return nil
}

func checkIMAP(_ context.Context, _ queue.Tx, _ *Account, v *gmail.ImapSettings) error {
	if !slices.Contains([]int64{0, 1000, 2000, 5000, 10000}, v.MaxFolderSize) {
		return wire.InvalidArgument("Invalid value at 'max_folder_size': %d", v.MaxFolderSize)
	}
	return oneOf("expunge_behavior", &v.ExpungeBehavior, "archive", "trash", "deleteForever")
}

func checkPOP(_ context.Context, _ queue.Tx, _ *Account, v *gmail.PopSettings) error {
	return errors.Join(
		oneOf("access_window", &v.AccessWindow, "disabled", "fromNowOn", "allMail"),
		oneOf("disposition", &v.Disposition, "leaveInInbox", "archive", "trash", "markRead"),
	)
}

func checkLanguage(_ context.Context, _ queue.Tx, _ *Account, v *gmail.LanguageSettings) error {
	tag, err := language.Parse(v.DisplayLanguage)
	if err != nil {
		return wire.InvalidArgument("Invalid language: %q", v.DisplayLanguage)
	}
	v.DisplayLanguage = tag.String()
	return nil
}

func checkAuto(ctx context.Context, tx queue.Tx, a *Account, v *gmail.AutoForwarding) error {
	if err := oneOf("disposition", &v.Disposition, "leaveInInbox", "archive", "trash", "markRead"); err != nil ||
		!v.Enabled {
		return err
	}
	return checkForwarding(ctx, tx, a, v.EmailAddress)
}

// checkForwarding refuses an address that has not agreed to be forwarded to.
func checkForwarding(ctx context.Context, tx queue.Tx, a *Account, address string) error {
	var known gmail.ForwardingAddress
	err := loadSetting(ctx, tx, a, kindForwarding, strings.ToLower(address), &known)
	if errors.Is(err, sql.ErrNoRows) || err == nil && known.VerificationStatus != statusAccepted {
		return &wire.Error{Status: 403, Reason: "forbidden", Message: "Unrecognized forwarding address: " + address}
	}
	return err
}
