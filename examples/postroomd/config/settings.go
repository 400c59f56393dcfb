package config

import (
	"fmt"
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
)

// A setting is one key of the file. Its field is a pointer into the Config, whose type determines how a value is read.
type setting struct {
	key     string
	env     string // a short name in the environment, besides POSTROOMD_SECTION_KEY
	example string // a value that is right, as TOML
	field   func(*Config) any
	check   func(c *Config) string // what to write instead; empty when the value is right
}

// settings are all settings, in the order of the file.
var settings = slices.Concat(firstSettings, safetySettings, webSettings, llmSettings(), enrichSettings, lastSettings,
	archiveSettings, notesSettings, attachmentsSettings)

var firstSettings = []setting{
	{"app.service_name", "", `"postroom"`, func(c *Config) any { return &c.App.ServiceName },
		func(c *Config) string { return notBlank(c.App.ServiceName) }},
	{"app.env", "", `"prod"`, func(c *Config) any { return &c.App.Env },
		func(c *Config) string { return oneOf(c.App.Env, EnvDev, EnvProd) }},
	{"app.log_level", "", `"info"`, func(c *Config) any { return &c.App.LogLevel }, nil},
	{"app.listen", "", `"0.0.0.0"`, func(c *Config) any { return &c.App.Listen },
		func(c *Config) string { return ipAddress(c.App.Listen) }},
	{"app.port", "APP_PORT", "17800", func(c *Config) any { return &c.App.Port },
		func(c *Config) string { return within(c.App.Port, 0, 65535) }},
	{"app.workers", "", "10", func(c *Config) any { return &c.App.Workers },
		func(c *Config) string { return within(c.App.Workers, 1, 1000) }},
	{"app.drain", "", `"30s"`, func(c *Config) any { return &c.App.Drain },
		func(c *Config) string { return between(c.App.Drain, time.Second, time.Hour) }},
	{"app.dashboard", "", "true", func(c *Config) any { return &c.App.Dashboard }, nil},
	{"app.pprof", "", "false", func(c *Config) any { return &c.App.Pprof }, nil},

	{"paths.data", "", `"~/.local/share/postroom"`, func(c *Config) any { return &c.Paths.Data },
		func(c *Config) string { return notBlank(string(c.Paths.Data)) }},
	{"paths.database", "", `"postgres://user@host/database"`, func(c *Config) any { return &c.Paths.Database },
		func(c *Config) string { return c.Paths.Database.check() }},
	{"paths.rules", "", `"~/rules.yaml"`, func(c *Config) any { return &c.Paths.Rules }, nil},
	{"paths.mailbox_rules", "", `["ada@example.org=~/ada.yaml"]`, func(c *Config) any { return &c.Paths.MailboxRules }, nil},
	{"paths.agents", "", `"~/agents"`, func(c *Config) any { return &c.Paths.Agents }, nil},

	{"telemetry.otlp_endpoint", "OTLP_ENDPOINT", `"http://127.0.0.1:4318"`, func(c *Config) any { return &c.Telemetry.OTLPEndpoint },
		func(c *Config) string { return webAddress(c.Telemetry.OTLPEndpoint) }},
	{"telemetry.otlp_protocol", "", `"grpc"`, func(c *Config) any { return &c.Telemetry.OTLPProtocol },
		func(c *Config) string { return oneOf(c.Telemetry.OTLPProtocol, OTLPByHTTP, OTLPByGRPC) }},
	{"telemetry.export_traces", "", "true", func(c *Config) any { return &c.Telemetry.ExportTraces }, nil},
	{"telemetry.export_metrics", "", "true", func(c *Config) any { return &c.Telemetry.ExportMetrics }, nil},

	{"gmail.address", "", `"ada@example.org"`, func(c *Config) any { return &c.Gmail.Address },
		func(c *Config) string { return mailAddress(c.Gmail.Address) }},
	{"gmail.endpoint", "", `"http://127.0.0.1:8025"`, func(c *Config) any { return &c.Gmail.Endpoint },
		func(c *Config) string { return webAddress(c.Gmail.Endpoint) }},
	{"gmail.token", "", `"env:GMAIL_TOKEN"`, func(c *Config) any { return &c.Gmail.Token }, nil},
	{"gmail.client_id", "", `"1234-abcd.apps.googleusercontent.com"`, func(c *Config) any { return &c.Gmail.ClientID }, nil},
	{"gmail.client_secret", "", `"env:GMAIL_CLIENT_SECRET"`, func(c *Config) any { return &c.Gmail.ClientSecret }, nil},
	{"gmail.auth_server", "", `"http://127.0.0.1:8025"`, func(c *Config) any { return &c.Gmail.AuthServer },
		func(c *Config) string { return webAddress(c.Gmail.AuthServer) }},
	{"gmail.tokens", "", `"file"`, func(c *Config) any { return &c.Gmail.Tokens },
		func(c *Config) string { return oneOf(c.Gmail.Tokens, "", "keychain", "file") }},
	{"gmail.passphrase", "", `"env:POSTROOM_PASSPHRASE"`, func(c *Config) any { return &c.Gmail.Passphrase }, nil},
	{"gmail.topic", "", `"projects/my-project/topics/gmail"`, func(c *Config) any { return &c.Gmail.Topic },
		func(c *Config) string { return topic(c.Gmail.Topic) }},
	{"gmail.push_audience", "", `"https://mail.example.org/push/gmail"`, func(c *Config) any { return &c.Gmail.PushAudience }, nil},
	{"gmail.push_account", "", `"push@my-project.iam.gserviceaccount.com"`, func(c *Config) any { return &c.Gmail.PushAccount },
		func(c *Config) string { return mailAddress(c.Gmail.PushAccount) }},
	{"gmail.use_pubsub", "", "true", func(c *Config) any { return &c.Gmail.UsePubsub }, nil},
	{"gmail.project_id", "", `"my-project"`, func(c *Config) any { return &c.Gmail.ProjectID },
		func(c *Config) string { return nameOf(c.Gmail.ProjectID, "project") }},
	{"gmail.subscription", "", `"gmail-sub"`, func(c *Config) any { return &c.Gmail.Subscription },
		func(c *Config) string { return nameOf(c.Gmail.Subscription, "subscription") }},
	{"gmail.units_per_minute", "", "6000", func(c *Config) any { return &c.Gmail.UnitsPerMinute },
		func(c *Config) string { return within(c.Gmail.UnitsPerMinute, 1000, 1_200_000, 0) }},
	{"gmail.allow_delete", "", "true", func(c *Config) any { return &c.Gmail.AllowDelete }, nil},
	{"gmail.spam_and_trash", "", "true", func(c *Config) any { return &c.Gmail.SpamAndTrash }, nil},
	{"gmail.backfill", "", `"newer_than:30d"`, func(c *Config) any { return &c.Gmail.Backfill }, nil},
	{"gmail.old_mail", "", `"sort"`, func(c *Config) any { return &c.Gmail.OldMail },
		func(c *Config) string { return oneOf(c.Gmail.OldMail, LeaveOldMail, SortOldMail) }},
	{"gmail.snooze_label", "", `"Postroom/Snoozed"`, func(c *Config) any { return &c.Gmail.SnoozeLabel },
		func(c *Config) string { return labelName(c.Gmail.SnoozeLabel) }},

	{"outbound.max_recipients", "", "10", func(c *Config) any { return &c.Outbound.MaxRecipients },
		func(c *Config) string { return within(c.Outbound.MaxRecipients, 1, 100) }},
	{"outbound.recipients_day", "", "50", func(c *Config) any { return &c.Outbound.RecipientsDay },
		func(c *Config) string { return within(c.Outbound.RecipientsDay, 1, 10_000) }},
	{"outbound.reply_interval", "", `"72h"`, func(c *Config) any { return &c.Outbound.ReplyInterval },
		func(c *Config) string { return between(c.Outbound.ReplyInterval, time.Minute, 365*24*time.Hour) }},

	{"policy.confidence_default", "", "0.7", func(c *Config) any { return &c.Policy.ConfidenceDefault },
		func(c *Config) string { return part(c.Policy.ConfidenceDefault) }},
	{"policy.approval_always", "", `["delete", "forward"]`, func(c *Config) any { return &c.Policy.ApprovalAlways },
		func(c *Config) string { return actions(c.Policy.ApprovalAlways) }},
	{"policy.approval_expiry", "", `"168h"`, func(c *Config) any { return &c.Policy.ApprovalExpiry },
		func(c *Config) string { return between(c.Policy.ApprovalExpiry, time.Minute, 365*24*time.Hour) }},
	{"policy.approvers", "", `["ada"]`, func(c *Config) any { return &c.Policy.Approvers },
		func(c *Config) string {
			for _, a := range c.Policy.Approvers {
				if strings.TrimSpace(a) == "" {
					return "names that are not blank"
				}
			}
			return ""
		}},

	{"policy.approval_key", "", `"env:POSTROOM_APPROVAL_KEY"`, func(c *Config) any { return &c.Policy.ApprovalKey },
		func(c *Config) string {
			if n := len(c.Policy.ApprovalKey); n == 0 || n >= 32 {
				return ""
			}
			return "a text of at least 32 characters that nobody can guess"
		}},
	{"policy.approval_key_before", "", `"env:POSTROOM_OLD_APPROVAL_KEY"`, func(c *Config) any { return &c.Policy.ApprovalKeyBefore },
		func(c *Config) string {
			if n := len(c.Policy.ApprovalKeyBefore); n == 0 || n >= 32 {
				return ""
			}
			return "the whole text of the key from before"
		}},
	{"policy.model_alone", "", `["apply_label", "archive", "none"]`, func(c *Config) any { return &c.Policy.ModelUnattended },
		func(c *Config) string { return harmless(c.Policy.ModelUnattended) }},
	{"policy.send_age", "", `"72h"`, func(c *Config) any { return &c.Policy.SendAge },
		func(c *Config) string { return sendAge(c.Policy.SendAge) }},
	{"policy.model_share", "", "0.2", func(c *Config) any { return &c.Policy.ModelShare },
		func(c *Config) string { return part(c.Policy.ModelShare) }},
	{"policy.model_free", "", "5", func(c *Config) any { return &c.Policy.ModelFree },
		func(c *Config) string { return within(c.Policy.ModelFree, 1, 1_000_000) }},
}

var lastSettings = []setting{
	{"replies.enabled", "", "true", func(c *Config) any { return &c.Replies.Enabled },
		func(c *Config) string {
			if c.Replies.Enabled && !c.LLM.Enabled() {
				return "false, or true beside a model in the section [llm], which writes the drafts"
			}
			return ""
		}},
	{"replies.about", "", `"I am Ada, and brief."`, func(c *Config) any { return &c.Replies.About }, nil},
	{"replies.triage", "", "true", func(c *Config) any { return &c.Replies.Triage },
		func(c *Config) string {
			if c.Replies.Triage && !c.Replies.Enabled {
				return "false, or true beside replies.enabled = true"
			}
			return ""
		}},
	{"replies.per_day", "", "20", func(c *Config) any { return &c.Replies.PerDay },
		func(c *Config) string { return within(c.Replies.PerDay, 1, 1000) }},
	{"replies.voice", "", "true", func(c *Config) any { return &c.Replies.Voice }, nil},
	{"replies.follow_up_days", "", "7", func(c *Config) any { return &c.Replies.FollowUpDays },
		func(c *Config) string { return within(c.Replies.FollowUpDays, 0, 365) }},
	{"replies.follow_up_sent", "", "true", func(c *Config) any { return &c.Replies.FollowUpSent },
		func(c *Config) string {
			if c.Replies.FollowUpSent && c.Replies.FollowUpDays == 0 {
				return "false, or true beside replies.follow_up_days of 1 or more"
			}
			return ""
		}},
	{"replies.follow_up", "", `"draft"`, func(c *Config) any { return &c.Replies.FollowUp },
		func(c *Config) string { return followUp(&c.Replies) }},
	{"replies.needs_response_label", "", `"Postroom/Needs Response"`, func(c *Config) any { return &c.Replies.NeedsResponse },
		func(c *Config) string { return labelName(c.Replies.NeedsResponse) }},
	{"replies.outbox_label", "", `"Postroom/Outbox"`, func(c *Config) any { return &c.Replies.Outbox },
		func(c *Config) string { return labelName(c.Replies.Outbox) }},
	{"replies.rework_label", "", `"Postroom/Rework"`, func(c *Config) any { return &c.Replies.Rework },
		func(c *Config) string { return labelName(c.Replies.Rework) }},
	{"replies.done_label", "", `"Postroom/Done"`, func(c *Config) any { return &c.Replies.Done },
		func(c *Config) string { return labelName(c.Replies.Done) }},
	{"replies.action_required_label", "", `"Postroom/Action Required"`, func(c *Config) any { return &c.Replies.ActionRequired },
		func(c *Config) string { return labelName(c.Replies.ActionRequired) }},
	{"replies.waiting_label", "", `"Postroom/Waiting"`, func(c *Config) any { return &c.Replies.Waiting },
		func(c *Config) string { return labelName(c.Replies.Waiting) }},

	{"learn.enabled", "", "true", func(c *Config) any { return &c.Learn.Enabled }, nil},
	{"learn.auto", "", "true", func(c *Config) any { return &c.Learn.Auto },
		func(c *Config) string {
			if c.Learn.Auto && !c.Learn.Enabled {
				return "false, or true beside learn.enabled = true"
			}
			return ""
		}},
	{"learn.teach_label", "", `"Postroom/Teach"`, func(c *Config) any { return &c.Learn.TeachLabel },
		teachLabel},
	{"learn.examples", "", "true", func(c *Config) any { return &c.Learn.Examples },
		func(c *Config) string {
			if c.Learn.Examples && !c.Learn.Enabled {
				return "false, or true beside learn.enabled = true"
			}
			return ""
		}},
	{"unsubscribe.enabled", "", "true", func(c *Config) any { return &c.Lists.Enabled }, nil},
	{"unsubscribe.per_day", "", "50", func(c *Config) any { return &c.Lists.PerDay },
		func(c *Config) string { return within(c.Lists.PerDay, 1, 1000) }},

	{"schedules.history_sync", "", `"1m"`, func(c *Config) any { return &c.Schedules.HistorySync },
		func(c *Config) string { return interval(c.Schedules.HistorySync) }},
	{"schedules.labels_sync", "", `"1h"`, func(c *Config) any { return &c.Schedules.LabelsSync },
		func(c *Config) string { return interval(c.Schedules.LabelsSync) }},
	{"schedules.reconcile", "", `"168h"`, func(c *Config) any { return &c.Schedules.Reconcile },
		func(c *Config) string { return interval(c.Schedules.Reconcile) }},
	{"schedules.watch", "", `"24h"`, func(c *Config) any { return &c.Schedules.Watch },
		func(c *Config) string { return watchInterval(c.Schedules.Watch) }},
}

// find returns the setting of a key, such as app.port.
func find(key string) *setting {
	i := slices.IndexFunc(settings, func(s setting) bool { return s.key == key })
	if i < 0 {
		return nil
	}
	return &settings[i]
}

// keys returns the keys of a section, without its name; for the empty section, the sections.
func keys(section string) []string {
	var names []string
	for _, s := range settings {
		of, key, _ := strings.Cut(s.key, ".")
		if section == "" {
			key = of
		} else if of != section {
			continue
		}
		if !slices.Contains(names, key) {
			names = append(names, key)
		}
	}
	return names
}

// longEnv returns the name in the environment that every setting has.
func (s *setting) longEnv() string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(s.key, ".", "_"))
}

const envPrefix = "POSTROOMD_"

func notBlank(s string) string {
	if strings.TrimSpace(s) == "" {
		return "a text that is not blank"
	}
	return ""
}

func oneOf(s string, words ...string) string {
	if slices.Contains(words, s) {
		return ""
	}
	return `"` + strings.Join(words, `" or "`) + `"`
}

// within also accepts the values that are permitted besides the range.
func within(n, low, high int, beside ...int) string {
	if n >= low && n <= high || slices.Contains(beside, n) {
		return ""
	}
	text := fmt.Sprintf("a number from %d to %d", low, high)
	if len(beside) > 0 {
		text += ", or " + strings.Trim(fmt.Sprint(beside), "[]")
	}
	return text
}

func between(d, low, high time.Duration) string {
	if d >= low && d <= high {
		return ""
	}
	return fmt.Sprintf("a duration from %s to %s", shortDuration(low), shortDuration(high))
}

// interval checks the interval of a schedule, in whole seconds.
func interval(d time.Duration) string {
	if d == 0 || d >= time.Second && d%time.Second == 0 {
		return ""
	}
	return "a duration of whole seconds, or 0s for never"
}

// watchInterval ensures that a watch is renewed before it ends, after seven days.
func watchInterval(d time.Duration) string {
	if d > 6*24*time.Hour {
		return "at most 144h: Gmail ends a watch after seven days"
	}
	return interval(d)
}

var topicName = regexp.MustCompile(`^projects/[^/]+/topics/[^/]+$`)

func topic(s string) string {
	if s == "" || topicName.MatchString(s) {
		return ""
	}
	return "the whole name of a Pub/Sub topic"
}

// nameOf refuses a full name where only its last part is expected.
func nameOf(s, what string) string {
	if strings.ContainsAny(s, "/ ") {
		return "the id of a " + what + ", without slashes"
	}
	return ""
}

func webAddress(s string) string {
	if s == "" {
		return ""
	}
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return "an address that begins with http:// or https://"
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "an address without user, query or fragment"
	}
	return ""
}

func mailAddress(s string) string {
	if s == "" {
		return ""
	}
	if a, err := mail.ParseAddress(s); err != nil || a.Address != s {
		return "a mail address alone"
	}
	return ""
}

func actions(names []string) string {
	const draft = "draft" // of agents, and no standard action
	for _, n := range names {
		if _, ok := postroom.StandardKind(postroom.ActionType(n)); !ok && n != draft {
			return fmt.Sprintf("names of actions, which %q is not", n)
		}
	}
	return ""
}

// harmless refuses actions that need a person in any configuration.
func harmless(names []string) string {
	for _, n := range names {
		if kind, ok := postroom.StandardKind(postroom.ActionType(n)); ok && kind.Danger == postroom.Dangerous {
			return fmt.Sprintf("names of actions that are not dangerous, which %q is", n)
		}
	}
	return actions(names)
}

func followUp(r *Replies) string {
	if r.FollowUp == FollowUpDraft && (!r.Enabled || r.FollowUpDays == 0) {
		return `"inbox", or "draft" beside replies.enabled = true and replies.follow_up_days of 1 or more`
	}
	return oneOf(r.FollowUp, FollowUpInbox, FollowUpDraft)
}

// teachLabel refuses a label that says something else already.
func teachLabel(c *Config) string {
	name, r := c.Learn.TeachLabel, &c.Replies
	if name == "" {
		return ""
	}
	for _, other := range []string{r.NeedsResponse, r.Outbox, r.Rework, r.Done, r.ActionRequired, r.Waiting,
		c.Gmail.SnoozeLabel} {
		if strings.EqualFold(name, other) {
			return "a name that no other setting has for a label"
		}
	}
	return labelName(name)
}

func labelName(name string) string {
	if err := postroom.CheckLabelName(name); err != nil {
		return fmt.Sprintf("a name that Gmail takes (%v)", err)
	}
	return ""
}

// check refuses values that look like neither a path nor a PostgreSQL URL.
func (d Database) check() string {
	if d.Postgres() {
		if u, err := url.Parse(string(d)); err != nil || u.Path == "" || u.Path == "/" {
			return "a URL with a host and a database"
		}
		return ""
	}
	if strings.Contains(string(d), "://") || keywords.MatchString(string(d)) {
		return "the path of an SQLite file, or a URL that begins with postgres://"
	}
	return ""
}

// keywords matches the other form of a database in PostgreSQL's own programs, host=… password=…: as the name of a
// file it would reveal the password.
var keywords = regexp.MustCompile(`(?:^|[/ ])(?:host|hostaddr|user|password|dbname|service)=`)

// sendAge accepts 0 for any age.
func sendAge(d time.Duration) string {
	if d == 0 {
		return ""
	}
	if fault := between(d, time.Hour, 365*24*time.Hour); fault != "" {
		return fault + ", or 0s for any age"
	}
	return ""
}
