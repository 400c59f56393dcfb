package mcp

import (
	"context"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/rules/ruleschat"
)

const (
	// triedSince is the age of the mail that a proposed rule is tried on, and maxTry how long that may take.
	triedSince = 90 * 24 * time.Hour
	maxTry     = 20 * time.Second
)

func (s *server) addRuleProposals() {
	addTool(s, &sdk.Tool{Name: "rule_propose", Title: "Propose rules",
		Description: "Stores a proposal to add, replace or remove rules, and tries it on the stored mail of 90 days. It has " +
			"no effect until a person accepts it. At most 20 proposals wait at once.",
		Annotations: &sdk.ToolAnnotations{DestructiveHint: new(bool)}}, s.proposeRule)
}

type ruleInput struct {
	Rules   string   `json:"rules,omitempty"   jsonschema:"a rules file in YAML: below rules those to add or to replace by name"`
	Remove  []string `json:"remove,omitempty"  jsonschema:"names of rules to remove"`
	Why     string   `json:"why"               jsonschema:"the reason, for the user: 1 to 500 characters"`
	Mailbox string   `json:"mailbox,omitempty" jsonschema:"address of the mailbox; may be left out where there is one"`
}

type ruleOutput struct {
	Session string   `json:"session" jsonschema:"where the user finds it: on the page Assistant, or by 'postroomd rules chat'"`
	State   string   `json:"state"`
	Changes []string `json:"changes" jsonschema:"each rule that would change, as the lines of a difference"`
	Tried   int      `json:"tried"   jsonschema:"messages of the last 90 days that it was tried on"`
	Differs int      `json:"differs" jsonschema:"those of them about which it decides otherwise than the rules in use"`
}

func (s *server) proposeRule(ctx context.Context, _ *call, in ruleInput) (out ruleOutput, err error) {
	account, err := s.account(ctx, in.Mailbox)
	if err != nil {
		return out, err
	}
	why := oneLine(in.Why, longestShort)
	if why == "" {
		return out, usage.Errorf("why is empty; give the user the reason")
	}
	talk, err := s.app.BeginTalk(ctx, account)
	if err != nil {
		return out, err
	}
	trying, cancel := context.WithTimeout(ctx, maxTry)
	defer cancel()
	offer := ruleschat.Offer{By: "mcp::" + s.caller.Name, Rules: in.Rules, Remove: in.Remove}
	p, tried, err := talk.Offer(trying, offer, why, time.Now().Add(-triedSince))
	if err != nil {
		if trying.Err() != nil && ctx.Err() == nil {
			err = usage.Errorf("the rules took longer than %s to try; propose simpler ones", maxTry)
		}
		return out, err
	}
	return ruleOutput{Session: talk.Session.ID, State: "waits for a person", Changes: p.Rules, Tried: tried.Messages,
		Differs: tried.Changed}, nil
}
