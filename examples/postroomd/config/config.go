// Package config reads the configuration of postroomd: a TOML file, overridden by the environment, overridden by flags.
//
// A setting is named by its section and key, such as app.port. In the environment it is POSTROOMD_APP_PORT; some have
// a shorter name as well (APP_PORT, OTLP_ENDPOINT), which the longer one overrides. A text "env:NAME" stands for the
// environment variable NAME, so that secrets need not be in the file.
//
// An unknown or invalid setting is an error that names the file, the line and a valid setting. Nothing is silently
// ignored.
package config

import (
	"log/slog"
	"time"

	"github.com/postroom-go/postroom/gmail/filing"
	"github.com/postroom-go/postroom/gmail/notes"
)

// A Config is the configuration of postroomd.
type Config struct {
	App         App
	Paths       Paths
	Telemetry   Telemetry
	Gmail       Gmail
	Outbound    Outbound
	Replies     Replies
	Enrich      Enrich
	Lists       Lists // the section [unsubscribe]
	Learn       Learn
	Archive     Archive
	Notes       Notes
	Attachments Attachments
	Policy      Policy
	Safety      Safety
	Discord     Discord
	Webhook     Webhook
	Web         Web
	API         API
	MCP         MCP
	Notify      Notify
	LLM         LLM
	Better      Model // the section [llm_better]: the model for mail about which the first is not sure
	Fallback    Model // the section [llm_fallback]: the model that is used while another cannot answer
	Schedules   Schedules
}

// App is the section [app].
type App struct {
	ServiceName string
	Env         string // EnvDev or EnvProd
	LogLevel    slog.Level
	Listen      string // an IP address
	Port        int    // 0 is a free one
	Workers     int
	Drain       time.Duration
	Dashboard   bool
	Pprof       bool
}

// The values of App.Env.
const (
	EnvDev  = "dev"
	EnvProd = "prod"
)

// Paths is the section [paths].
type Paths struct {
	Data     Path
	Database Database
	Rules    Path // empty: no rules file
	// MailboxRules are the rules files of single mailboxes, in place of Rules.
	MailboxRules MailboxFiles
	Agents       Path // the folder of the profiles of agents; empty: there are none
}

// The values of [Telemetry].OTLPProtocol.
const (
	OTLPByHTTP = "http"
	OTLPByGRPC = "grpc"
)

// Telemetry is the section [telemetry].
type Telemetry struct {
	OTLPEndpoint  string // empty: nothing is exported
	OTLPProtocol  string
	ExportTraces  bool
	ExportMetrics bool
}

// Gmail is the section [gmail].
type Gmail struct {
	Address        string
	Endpoint       string // empty: Google's
	Token          Secret
	ClientID       string
	ClientSecret   Secret
	AuthServer     string // empty: Google's
	Tokens         string // where grants are kept: keychain, file or empty
	Passphrase     Secret
	Topic          string // empty: Gmail is polled only
	PushAudience   string
	PushAccount    string
	UsePubsub      bool   // notifications are pulled
	ProjectID      string // empty: that of the topic
	Subscription   string
	UnitsPerMinute int  // 0: no limit
	AllowDelete    bool // signing in asks for permanent deletion
	SpamAndTrash   bool
	Backfill       string
	OldMail        string // what becomes of mail from before the sign-in: leave or sort
	SnoozeLabel    string
}

// What becomes of the mail that was in a mailbox before postroomd was signed in to it.
const (
	LeaveOldMail = "leave" // it is stored, and nothing is done to it
	SortOldMail  = "sort"  // it is decided about like new mail
)

// Outbound is the section [outbound]: the bounds of the messages that actions send.
type Outbound struct {
	MaxRecipients int
	RecipientsDay int
	ReplyInterval time.Duration
}

// Replies is the section [replies]: drafts of answers, and the labels that ask for them.
type Replies struct {
	Enabled bool
	About   string
	Triage  bool // the model also says what mail needs an answer
	PerDay  int  // drafts for such mail in a mailbox
	Voice   bool // drafts are written as the person writes
	// FollowUpDays is how long the label Waiting waits for an answer; 0: for ever.
	FollowUpDays int
	FollowUpSent bool   // what the person has answered waits too
	FollowUp     string // how a conversation comes back: FollowUpInbox or FollowUpDraft
	// The names of labels.
	NeedsResponse, Outbox, Rework, Done, ActionRequired, Waiting string
}

// The values of Replies.FollowUp: how a conversation that waits for an answer comes back into the inbox.
const (
	FollowUpInbox = "inbox" // with the label Action Required
	FollowUpDraft = "draft" // with the draft of a reminder
)

// Lists is the section [unsubscribe]: mailing lists are left by a person's word.
type Lists struct {
	Enabled bool
	PerDay  int // lists of a mailbox
}

// Learn is the section [learn]: rules are learned from what a person corrects by hand.
type Learn struct {
	Enabled bool
	Auto    bool // rules of the class high are applied after a week in shadow
	// TeachLabel is the label that a person puts on a message to have a rule proposed from it; empty: none.
	TeachLabel string
	Examples   bool // the models see how earlier decisions about mail of the sender were corrected
}

// Policy is the section [policy].
type Policy struct {
	ConfidenceDefault float64
	ApprovalAlways    []string
	ApprovalExpiry    time.Duration
	Approvers         []string
	ApprovalKey       Secret // empty: a file in the folder of the data, or on PostgreSQL one that the database keeps
	ApprovalKeyBefore Secret // checks what it has signed; empty: none
	ModelUnattended   []string
	SendAge           time.Duration
	ModelShare        float64
	ModelFree         int
}

// Safety is the section [safety]: the limits on actions.
type Safety struct {
	StopFile Path // empty: the file stop in the folder of the data
	SeenFile Path // the checkpoint; empty: the file checkpoint there, or one for a database elsewhere
	DryRun   bool

	Recipients []string // addresses, and domains as @example.org

	Caps []string // as limits.ParseCap has them

	BreakerActions  int // 0: no limit; the same for the next two
	BreakerFailures int
	BreakerWindow   time.Duration
	BreakerOpen     time.Duration

	QuietHours   []string // as limits.ParseQuietSpan has them
	QuietZone    string   // empty: that of this machine
	QuietActions []string
}

// Discord is the section [discord]: where people are asked for approval.
type Discord struct {
	BotToken  Secret
	ChannelID string        // empty: nobody is asked there
	Whitelist []string      // who may answer, each as ID or ID=name
	Remind    time.Duration // 0: never
	Endpoint  string        // empty: Discord's
	Gateway   string        // empty: the one that the endpoint names
}

// Webhook is the section [webhook]: a URL that receives requests for approval.
type Webhook struct {
	URL          string // empty: none
	Secret       Secret
	AllowPrivate bool
}

// MCP is the section [mcp]: assistants.
type MCP struct {
	Token   Secret // empty: none is served by HTTP
	Propose bool
}

// Notify is the section [notify]: what people are told, and where.
type Notify struct {
	NtfyURL   string // of a topic; empty: none
	NtfyToken Secret
	Digest    string   // when there is a digest, as when.Parse has it; empty: never
	DigestTo  []string // the doors of the digest
	Zone      string   // of the digest; empty: that of this machine
}

// The doors of a digest.
const (
	ToMailbox = "mailbox"
	ToDiscord = "discord"
	ToWebhook = "webhook"
	ToNtfy    = "ntfy"
)

// Web is the section [web]: who uses the page from elsewhere.
type Web struct {
	URL            string   // of the page, as people reach it; empty: on this machine only
	People         []string // as access.ParsePeople has them
	ProxyHeader    string   // empty: no proxy says who people are
	ProxyAddresses []string // as access.ParsePrefixes has them
	OIDCIssuer     string   // empty: no provider says who people are
	OIDCClientID   string
	OIDCSecret     Secret
}

// API is the section [api]: approvals by programs.
type API struct {
	Token    Secret // empty: there is no API
	Approver string
}

// Schedules is the section [schedules]: the interval of each recurring job; 0 is never.
type Schedules struct {
	HistorySync time.Duration
	LabelsSync  time.Duration
	Reconcile   time.Duration
	Watch       time.Duration
}

// Default returns the configuration of an empty file.
func Default() Config {
	return Config{
		App: App{ServiceName: "postroom", Env: EnvDev, Listen: "127.0.0.1", Port: 17800, Workers: 10, Drain: 30 * time.Second,
			Dashboard: true},
		Paths:       Paths{Data: "~/.local/share/postroom", MailboxRules: MailboxFiles{}},
		Telemetry:   Telemetry{OTLPProtocol: OTLPByHTTP, ExportTraces: true, ExportMetrics: true},
		Gmail:       Gmail{UnitsPerMinute: 6000, SpamAndTrash: true, OldMail: LeaveOldMail, SnoozeLabel: "Postroom/Snoozed"},
		Outbound:    Outbound{MaxRecipients: 10, RecipientsDay: 50, ReplyInterval: 72 * time.Hour},
		Lists:       Lists{PerDay: 50},
		Notes:       Notes{Path: notes.DefaultPath},
		Attachments: Attachments{Path: filing.DefaultPath},
		Archive:     Archive{Every: 24 * time.Hour, Verify: 7 * 24 * time.Hour},
		Replies: Replies{PerDay: 20, FollowUpDays: 7, FollowUp: FollowUpInbox,
			NeedsResponse: "Postroom/Needs Response", Outbox: "Postroom/Outbox",
			Rework: "Postroom/Rework", Done: "Postroom/Done", ActionRequired: "Postroom/Action Required",
			Waiting: "Postroom/Waiting"},
		Enrich: Enrich{Stages: allStages(), Model: true, SureFrom: 0.8, Categories: []string{}, Levels: []string{}},
		Policy: Policy{
			ConfidenceDefault: 0.7, ApprovalAlways: []string{"delete", "forward", "auto_reply"},
			ApprovalExpiry: 7 * 24 * time.Hour, Approvers: []string{},
			ModelUnattended: []string{
				"apply_label", "remove_label", "mark_read", "mark_unread", "star", "unstar", "archive", "move", "snooze",
				"restore", "escalate", "draft", "none",
			},
			SendAge: 72 * time.Hour, ModelShare: 0.2, ModelFree: 5,
		},
		Safety: Safety{
			Recipients: []string{}, Caps: []string{}, QuietHours: []string{}, QuietActions: []string{},
			BreakerFailures: 50, BreakerWindow: time.Hour, BreakerOpen: time.Hour,
		},
		Discord: Discord{Whitelist: []string{}, Remind: 24 * time.Hour},
		Web:     Web{People: []string{}, ProxyAddresses: []string{}},
		API:     API{Approver: "api"},
		Notify:  Notify{DigestTo: []string{ToMailbox}},
		LLM: LLM{
			Model: defaultModel(), Temperature: ProvidersTemperature, MaxOutputTokens: 1024, Concurrency: 4,
			AccountTokensDay: 2_000_000, KeepAnswers: 24 * time.Hour, BetterBelow: 0.8, Reuse: 30 * 24 * time.Hour,
			Age: 7 * 24 * time.Hour,
		},
		Better: defaultModel(), Fallback: defaultModel(),
		Schedules: Schedules{HistorySync: time.Minute, LabelsSync: time.Hour, Reconcile: 7 * 24 * time.Hour,
			Watch: 24 * time.Hour},
	}
}
