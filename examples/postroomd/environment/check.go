package environment

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/examples/postroomd/config"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/safety/discord"
	"github.com/postroom-go/postroom/safety/webhook"
)

// CheckAccess returns an error if there is no mailbox to work on.
func (s *Environment) CheckAccess() error {
	if s.Config.Gmail.ClientID == "" && s.Config.Gmail.Token == "" {
		return usage.Errorf(
			"there is no access to any mailbox: set gmail.client_id and sign in with 'postroomd auth login', or set gmail.address and gmail.token")
	}
	return nil
}

// Check returns an error for settings that do not go together, and for rules that cannot be read.
func (s *Environment) Check() error {
	if err := errors.Join(s.checkDatabase(), s.checkGmail(), s.checkDiscord(), s.checkAPI(), s.checkWeb(),
		s.checkWebhook(), s.checkNotify()); err != nil {
		return err
	}
	if _, err := s.AgentProfiles(); err != nil {
		return err
	}
	if err := s.AddKinds(s.ownKinds); err != nil { // rules name the profiles
		return err
	}
	return s.checkRules()
}

// checkDatabase returns an error if no SQLite file can be where paths.database says: one in memory would lose mail.
func (s *Environment) checkDatabase() error {
	database := string(s.Config.Paths.Database)
	if database == "" || s.Config.Paths.Database.Postgres() {
		return nil
	}
	if name := filepath.Base(database); strings.HasPrefix(name, ":memory:") || strings.Contains(database, "file:") {
		return usage.Errorf(
			"paths.database is %q; write the path of a file, such as /var/lib/postroom/postroom.db, or postgres://…", name)
	}
	folder := filepath.Dir(database)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return usage.Errorf("paths.database is in %s, and there is no such folder; make it, or name another", folder)
	}
	return nil
}

func (s *Environment) checkGmail() error {
	switch g := s.Config.Gmail; {
	case g.Token != "" && g.Address == "":
		return usage.Errorf(
			"gmail.address is not set; name the mailbox of gmail.token, as in address = \"ada@example.org\" below [gmail]")
	case g.Endpoint == "" && g.UnitsPerMinute == 0:
		return usage.Errorf("gmail.units_per_minute is 0, and Google's Gmail has a quota; set it to 6000")
	}
	return s.checkNotifications()
}

// checkNotifications returns an error if the settings for notifications are incomplete.
func (s *Environment) checkNotifications() error {
	g := s.Config.Gmail
	push := g.PushAudience != "" || g.PushAccount != ""
	switch {
	case push && (g.PushAudience == "" || g.PushAccount == ""):
		return usage.Errorf(
			"of gmail.push_audience and gmail.push_account one is set, and the other is not; both are those of the push subscription")
	case g.Topic == "" && push:
		return usage.Errorf(
			"gmail.push_audience and gmail.push_account are set, and gmail.topic is not; name the topic that Gmail publishes to")
	case g.Topic == "" && g.UsePubsub:
		return usage.Errorf("gmail.use_pubsub is true, and gmail.topic is not set; name the topic that Gmail publishes to")
	case g.UsePubsub && g.Subscription == "":
		return usage.Errorf(
			"gmail.use_pubsub is true, and gmail.subscription is not set; name the pull subscription of gmail.topic")
	case !g.UsePubsub && (g.Subscription != "" || g.ProjectID != ""):
		return usage.Errorf("gmail.subscription or gmail.project_id is set, and gmail.use_pubsub is not true; set it to pull")
	case g.Topic != "" && !push && !g.UsePubsub:
		return usage.Errorf(
			"gmail.topic is set, and nothing takes what is published; set gmail.use_pubsub and gmail.subscription, " +
				"or gmail.push_audience and gmail.push_account")
	}
	return nil
}

// checkAPI returns an error if answers over the API could never count.
func (s *Environment) checkAPI() error {
	approvers, name := s.Config.Policy.Approvers, s.Config.API.Approver
	if s.Config.API.Token == "" || len(approvers) == 0 || slices.Contains(approvers, name) {
		return nil
	}
	return usage.Errorf(
		"api.token is set and api.approver is %q, which policy.approvers does not have; add %q to policy.approvers, or leave policy.approvers empty", name, name)
}

// AsksDiscord reports whether requests for approval are asked in a channel.
func (s *Environment) AsksDiscord() bool { return s.Config.Discord.ChannelID != "" }

// checkDiscord returns an error if the settings for asking in a channel are incomplete.
func (s *Environment) checkDiscord() error {
	d := s.Config.Discord
	switch {
	case d.ChannelID == "" && (d.BotToken != "" || len(d.Whitelist) > 0):
		return usage.Errorf(
			"discord.bot_token or discord.whitelist is set, and discord.channel_id is not; name the channel to ask in")
	case d.ChannelID != "" && d.BotToken == "":
		return usage.Errorf(
			"discord.channel_id is set, and discord.bot_token is not; set it, as in bot_token = \"env:DISCORD_BOT_TOKEN\"")
	}
	return s.checkDiscordApprovers()
}

// checkDiscordApprovers returns an error if a person on the whitelist could never answer.
func (s *Environment) checkDiscordApprovers() error {
	approvers := s.Config.Policy.Approvers
	if len(approvers) == 0 {
		return nil
	}
	for _, p := range s.Whitelist() {
		if !slices.Contains(approvers, p.Name) {
			return usage.Errorf(
				"discord.whitelist has %s=%s, and policy.approvers has no %q; add the name, or leave policy.approvers empty",
				p.UserID, p.Name, p.Name)
		}
	}
	return nil
}

// Whitelist returns the configured people, as ID or ID=name.
func (s *Environment) Whitelist() []discord.Person {
	var people []discord.Person
	for _, entry := range s.Config.Discord.Whitelist {
		id, name, _ := strings.Cut(entry, "=")
		if name == "" {
			name = "discord:" + id
		}
		people = append(people, discord.Person{UserID: id, Name: name})
	}
	return people
}

// checkWebhook returns an error if the settings of the webhook are incomplete, or cannot work.
func (s *Environment) checkWebhook() error {
	w := s.Config.Webhook
	switch {
	case w.URL == "" && w.Secret != "":
		return usage.Errorf("webhook.secret is set, and webhook.url is not; name the address to tell")
	case w.URL == "":
		return nil
	case w.Secret == "":
		return usage.Errorf(
			"webhook.url is set, and webhook.secret is not; set it, as in secret = \"env:POSTROOM_WEBHOOK_SECRET\"")
	}
	if err := webhook.CheckURL(w.URL, w.AllowPrivate); err != nil {
		return usage.Errorf("webhook.url: %w", err)
	}
	return nil
}

// checkNotify returns an error if a digest could not go where it is to go.
func (s *Environment) checkNotify() error {
	n := s.Config.Notify
	lacks := map[string]string{}
	if !s.AsksDiscord() {
		lacks[config.ToDiscord] = "discord.channel_id"
	}
	if s.Config.Webhook.URL == "" {
		lacks[config.ToWebhook] = "webhook.url"
	}
	if n.NtfyURL == "" {
		lacks[config.ToNtfy] = "notify.ntfy_url"
	}
	for _, to := range n.DigestTo {
		if lack := lacks[to]; lack != "" && n.Digest != "" {
			return usage.Errorf("notify.digest_to has %q, and %s is not set; set it, or take %q out", to, lack, to)
		}
	}
	switch {
	case n.NtfyURL == "" && n.NtfyToken != "":
		return usage.Errorf("notify.ntfy_token is set, and notify.ntfy_url is not; name the topic to tell")
	case n.Digest != "" && len(n.DigestTo) == 0:
		return usage.Errorf("notify.digest is set, and notify.digest_to is empty; name where it goes, such as \"mailbox\"")
	}
	return nil
}
