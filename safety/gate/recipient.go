package gate

import (
	"fmt"
	"net/mail"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/mime/authres"
)

// RecipientDoubts ask about recipients that are neither the sender of the message nor in the policy.
func (g *Gate) RecipientDoubts(msg *postroom.Message, d postroom.Decision) (doubts []Doubt) {
	kind, _ := g.kinds.Kind(d.Action)
	for _, p := range kind.Parameters {
		if !p.Recipient || d.Parameters[p.Name] == nil {
			continue
		}
		if reason := g.strangers(msg, d.Parameters, p.Name); reason != "" {
			doubts = append(doubts, Doubt{OverrideRecipient, reason})
		}
	}
	return doubts
}

// strangers returns the recipients of a parameter that only the model, or the sender of the message, names; empty if
// there are none.
func (g *Gate) strangers(msg *postroom.Message, p postroom.Parameters, name string) string {
	values, ok := p.Texts(name)
	if !ok {
		return fmt.Sprintf("the recipients in %q cannot be read", name)
	}
	var strangers []string
	for _, value := range values {
		list, err := mail.ParseAddressList(value)
		if err != nil {
			strangers = append(strangers, fmt.Sprintf("%q", value))
			continue
		}
		for _, a := range list {
			if !g.knows(a.Address) && !takesPart(msg, a.Address) {
				strangers = append(strangers, fmt.Sprintf("%q", a.Address))
			}
		}
	}
	if len(strangers) == 0 {
		return ""
	}
	return "only the model or the sender names the recipient " + strings.Join(slices.Compact(strangers), ", ")
}

// knows reports whether the policy lists the address, or its domain.
func (g *Gate) knows(address string) bool {
	address = mailname.Address(address)
	domain := address[max(0, strings.LastIndexByte(address, '@')):]
	return slices.ContainsFunc(g.policy.Recipients, func(known string) bool {
		known = mailname.Address(known)
		return known == address || known == domain
	})
}

// takesPart reports whether the address is that of the sender. Others that the header of the message names are there by
// the sender's word alone, who could so direct an answer to another person; a Reply-To counts at the sender's domain.
func takesPart(msg *postroom.Message, address string) bool {
	if msg == nil {
		return false
	}
	address = mailname.Address(address)
	is := func(a postroom.Address) bool { return mailname.Address(a.Email) == address }
	return is(msg.From) || slices.ContainsFunc(msg.ReplyTo, func(a postroom.Address) bool {
		return is(a) && authres.OrganizationalDomain(a.Domain()) == authres.OrganizationalDomain(msg.From.Domain())
	})
}
