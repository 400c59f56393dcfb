package rules

import (
	"fmt"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/postroom-go/postroom/mime/lookalike"
)

// compileConfusable tests whether the sender's domain differs from one of the values and looks like it; without
// values, whether a word of the domain or of the display name mixes scripts.
func compileConfusable(k *code, c *Condition) (predicate, *ConditionError) {
	protected := c.Alternatives()
	if len(protected) == 0 {
		return predicate{test: (*view).isMixedSender, sender: true}, nil
	}
	if e := c.eachValue(domainFault); e != nil {
		return predicate{}, e
	}
	own, skeletons := map[string]bool{}, map[string]bool{}
	for _, domain := range protected {
		site := authres.OrganizationalDomain(domain)
		own[site], skeletons[lookalike.Skeleton(lookalike.UnicodeDomain(site))] = true, true
	}
	id := k.source(addressSource(inFrom, PartSite))
	return predicate{
		sender: true,
		test: func(v *view) bool {
			for _, site := range v.Texts(id) {
				if !own[site] && skeletons[lookalike.Skeleton(lookalike.UnicodeDomain(site))] {
					return true
				}
			}
			return false
		},
		explain: func(v *view) string { return v.found([]int32{id}, 0) },
	}, nil
}

func (v *view) isMixedSender() bool { return lookalike.MixesScripts(mimeAddress(v.msg.From)) }

// isSpoofed reports whether the display name holds an address of another site than the sender's.
func (v *view) isSpoofed() bool { return lookalike.NamesAnother(mimeAddress(v.msg.From)) }

func mimeAddress(a postroom.Address) mime.Address { return mime.Address{Name: a.Name, Email: a.Email} }

// found returns the texts of the sources in a message.
func (v *view) found(ids []int32, index int) string {
	var texts []string
	for _, id := range ids {
		texts = append(texts, indexed(v.Texts(id), index)...)
	}
	return foundTexts(texts)
}

func foundTexts(texts []string) string {
	const shown, length = 3, 60
	if len(texts) == 0 {
		return "it has none"
	}
	quoted := make([]string, 0, shown)
	for _, text := range texts[:min(len(texts), shown)] {
		if runes := []rune(text); len(runes) > length {
			text = string(runes[:length]) + "…"
		}
		quoted = append(quoted, fmt.Sprintf("%q", text))
	}
	if more := len(texts) - shown; more > 0 {
		return fmt.Sprintf("it is %s and %d more", strings.Join(quoted, ", "), more)
	}
	return "it is " + strings.Join(quoted, ", ")
}
