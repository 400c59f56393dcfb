package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/postroom-go/postroom/examples/postroomd/notify/when"
	"github.com/postroom-go/postroom/safety/gate"
	"github.com/postroom-go/postroom/safety/limits"
	"github.com/postroom-go/postroom/safety/webhook"
)

// safetySettings are the settings of the limits on actions, and of requests for approval.
var safetySettings = []setting{
	{"safety.stop_file", "", `"/run/postroom/stop"`, func(c *Config) any { return &c.Safety.StopFile }, nil},
	{"safety.seen_file", "", `"/var/lib/postroom/checkpoint"`, func(c *Config) any { return &c.Safety.SeenFile }, nil},
	{"safety.dry_run", "", "true", func(c *Config) any { return &c.Safety.DryRun }, nil},
	{"safety.recipients", "", `["ada@example.org", "@example.org"]`, func(c *Config) any { return &c.Safety.Recipients },
		func(c *Config) string {
			if _, err := gate.New(gate.Policy{Recipients: c.Safety.Recipients}, nil); err != nil {
				return "mail addresses, and domains such as \"@example.org\""
			}
			return ""
		}},
	{"safety.caps", "", `["trash,archive 50/1h by rules", "forward 20/1d"]`, func(c *Config) any { return &c.Safety.Caps },
		func(c *Config) string { return caps(c.Safety.Caps) }},
	{"safety.breaker_actions", "", "200", func(c *Config) any { return &c.Safety.BreakerActions },
		func(c *Config) string { return within(c.Safety.BreakerActions, 0, 1_000_000) }},
	{"safety.breaker_failures", "", "50", func(c *Config) any { return &c.Safety.BreakerFailures },
		func(c *Config) string { return within(c.Safety.BreakerFailures, 0, 1_000_000) }},
	{"safety.breaker_window", "", `"1h"`, func(c *Config) any { return &c.Safety.BreakerWindow },
		func(c *Config) string { return between(c.Safety.BreakerWindow, time.Minute, 366*24*time.Hour) }},
	{"safety.breaker_open", "", `"1h"`, func(c *Config) any { return &c.Safety.BreakerOpen },
		func(c *Config) string { return between(c.Safety.BreakerOpen, time.Minute, 3650*24*time.Hour) }},
	{"safety.quiet_hours", "", `["22:00-07:00", "Sat,Sun 00:00-24:00"]`, func(c *Config) any { return &c.Safety.QuietHours },
		func(c *Config) string { return quietHours(c.Safety.QuietHours) }},
	{"safety.quiet_zone", "", `"Europe/Berlin"`, func(c *Config) any { return &c.Safety.QuietZone },
		func(c *Config) string { return zone(c.Safety.QuietZone) }},
	{"safety.quiet_actions", "", `["apply_label", "mark_read"]`, func(c *Config) any { return &c.Safety.QuietActions },
		func(c *Config) string { return actions(c.Safety.QuietActions) }},

	{"discord.bot_token", "DISCORD_BOT_TOKEN", `"env:DISCORD_BOT_TOKEN"`, func(c *Config) any { return &c.Discord.BotToken },
		func(c *Config) string { return withoutSpaces(string(c.Discord.BotToken)) }},
	{"discord.channel_id", "", `"772908445358620702"`, func(c *Config) any { return &c.Discord.ChannelID },
		func(c *Config) string { return discordID(c.Discord.ChannelID, "channel") }},
	{"discord.whitelist", "", `["53908232506183680=ada"]`, func(c *Config) any { return &c.Discord.Whitelist },
		func(c *Config) string { return discordPeople(c.Discord.Whitelist) }},
	{"discord.remind", "", `"24h"`, func(c *Config) any { return &c.Discord.Remind },
		func(c *Config) string { return remindInterval(c.Discord.Remind) }},
	{"discord.api_endpoint", "", `"http://127.0.0.1:8026"`, func(c *Config) any { return &c.Discord.Endpoint },
		func(c *Config) string { return webAddress(c.Discord.Endpoint) }},
	{"discord.gateway", "", `"ws://127.0.0.1:8026/gateway/"`, func(c *Config) any { return &c.Discord.Gateway },
		func(c *Config) string { return socketAddress(c.Discord.Gateway) }},

	{"webhook.url", "", `"https://example.org/approvals"`, func(c *Config) any { return &c.Webhook.URL }, nil},
	{"webhook.secret", "", `"env:POSTROOM_WEBHOOK_SECRET"`, func(c *Config) any { return &c.Webhook.Secret },
		func(c *Config) string { return webhookSecret(string(c.Webhook.Secret)) }},
	{"webhook.allow_private", "", "false", func(c *Config) any { return &c.Webhook.AllowPrivate }, nil},

	{"api.token", "", `"env:POSTROOM_API_TOKEN"`, func(c *Config) any { return &c.API.Token },
		func(c *Config) string { return apiToken(string(c.API.Token)) }},
	{"api.approver", "", `"api"`, func(c *Config) any { return &c.API.Approver },
		func(c *Config) string { return notBlank(c.API.Approver) }},

	{"mcp.token", "", `"env:POSTROOM_MCP_TOKEN"`, func(c *Config) any { return &c.MCP.Token },
		func(c *Config) string { return apiToken(string(c.MCP.Token)) }},
	{"mcp.propose", "", "false", func(c *Config) any { return &c.MCP.Propose }, nil},

	{"notify.ntfy_url", "", `"https://ntfy.sh/your-secret-topic"`, func(c *Config) any { return &c.Notify.NtfyURL },
		func(c *Config) string { return webAddress(c.Notify.NtfyURL) }},
	{"notify.ntfy_token", "", `"env:POSTROOM_NTFY_TOKEN"`, func(c *Config) any { return &c.Notify.NtfyToken },
		func(c *Config) string { return withoutBlanks(string(c.Notify.NtfyToken)) }},
	{"notify.digest", "", `"Mon 07:00"`, func(c *Config) any { return &c.Notify.Digest },
		func(c *Config) string { return digestTime(c.Notify.Digest) }},
	{"notify.digest_to", "", `["mailbox", "ntfy"]`, func(c *Config) any { return &c.Notify.DigestTo },
		func(c *Config) string { return digestDoors(c.Notify.DigestTo) }},
	{"notify.zone", "", `"Europe/Berlin"`, func(c *Config) any { return &c.Notify.Zone },
		func(c *Config) string { return zone(c.Notify.Zone) }},
}

func withoutBlanks(s string) string {
	if strings.ContainsAny(s, " \t\r\n") {
		return "the token alone, without the word Bearer"
	}
	return ""
}

func digestTime(s string) string {
	if _, err := when.Parse(s); s != "" && err != nil {
		return "a time of day such as \"07:00\", or one of a weekday such as \"Mon 07:00\""
	}
	return ""
}

func digestDoors(names []string) string {
	for _, name := range names {
		if fault := oneOf(name, ToMailbox, ToDiscord, ToWebhook, ToNtfy); fault != "" {
			return "some of " + fault
		}
	}
	return ""
}

func caps(texts []string) string {
	for _, text := range texts {
		c, err := limits.ParseCap(text)
		if err == nil {
			_, err = gate.New(gate.Policy{Caps: []limits.Cap{c}}, nil)
		}
		if err != nil {
			return fmt.Sprintf("caps such as \"trash,archive 50/1h by rules\", which %q is not", text)
		}
	}
	return ""
}

func quietHours(texts []string) string {
	var quiet limits.Quiet
	for _, text := range texts {
		span, err := limits.ParseQuietSpan(text)
		if err != nil {
			return fmt.Sprintf("hours such as \"22:00-07:00\" or \"Sat,Sun 00:00-24:00\", which %q is not", text)
		}
		quiet.Spans = append(quiet.Spans, span)
	}
	if _, err := gate.New(gate.Policy{Quiet: quiet}, nil); err != nil {
		return "hours that leave a part of the week, or nothing would ever be done"
	}
	return ""
}

func zone(name string) string {
	if _, err := time.LoadLocation(name); err != nil {
		return "a time zone such as \"Europe/Berlin\""
	}
	return ""
}

func webhookSecret(s string) string {
	if s == "" || webhook.CheckSecret(s) == nil {
		return ""
	}
	return "whsec_ and 24 to 64 bytes in base64"
}

func apiToken(s string) string {
	if s == "" || len(s) >= 32 && !strings.ContainsAny(s, " \t\r\n") {
		return ""
	}
	return "a text of at least 32 characters, without spaces, that nobody can guess"
}
