package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/mailname"
	"github.com/postroom-go/postroom/internal/suggest"
	"github.com/postroom-go/postroom/mime/authres"
	"github.com/postroom-go/postroom/rules/internal/prefilter"
)

func compileSenderEmail(k *code, c *Condition) (predicate, *ConditionError) {
	return k.addressOrDomain(c, inFrom)
}
func compileTo(k *code, c *Condition) (predicate, *ConditionError) { return k.addressOrDomain(c, inTo) }
func compileCc(k *code, c *Condition) (predicate, *ConditionError) { return k.addressOrDomain(c, inCc) }

// addressOrDomain takes whole addresses, and *@ with a domain.
func (k *code) addressOrDomain(c *Condition, lists addresses) (predicate, *ConditionError) {
	var whole, domains []string
	e := c.eachValue(func(path, value string) *ConditionError {
		domain, wildcard := strings.CutPrefix(value, "*@")
		switch {
		case wildcard && domain != "" && !strings.ContainsAny(domain, "*@ "):
			domains = append(domains, domain)
		case strings.Contains(value, "*"):
			return badValue(path, fmt.Sprintf("%q", value), "the one wildcard is the prefix *@, as in *@example.com")
		case DomainOf(value) == "" || strings.ContainsAny(value, " <>"):
			return badValue(path, fmt.Sprintf("%q is no address", value),
				"write name@example.com, or *@example.com for all of a domain")
		default:
			whole = append(whole, value)
		}
		return nil
	})
	if e != nil {
		return predicate{}, e
	}
	addresses, e := k.textPredicate(c, textTest{sources: []textSource{addressSource(lists, PartAddress)}, how: Is,
		values: whole})
	if len(domains) == 0 || e != nil {
		return addresses, e
	}
	inDomains, e := k.textPredicate(c, textTest{sources: []textSource{addressSource(lists, PartDomain)}, how: Is,
		values: domains})
	if len(whole) == 0 || e != nil {
		return inDomains, e
	}
	return eitherPredicate(addresses, inDomains), nil
}

func eitherPredicate(a, b predicate) predicate {
	return predicate{
		test: func(v *view) bool { return a.test(v) || b.test(v) },
		key:  prefilter.Any([]prefilter.Key{a.key, b.key}), sender: a.sender || b.sender, explain: a.explain,
	}
}

func addressSource(lists addresses, part string) textSource {
	return textSource{from: fromAddresses, lists: lists, part: part}
}

func compileSenderDomain(k *code, c *Condition) (predicate, *ConditionError) {
	if e := c.eachValue(domainFault); e != nil {
		return predicate{}, e
	}
	return k.textPredicate(c, textTest{sources: []textSource{addressSource(inFrom, PartDomain)}, how: Is,
		values: c.Alternatives()})
}

func domainFault(path, value string) *ConditionError {
	if hint := checkDomain(value); hint != "" {
		return badValue(path, fmt.Sprintf("%q is no domain", value), hint)
	}
	return nil
}

// checkDomain returns a hint if the text is not a domain; otherwise the empty string.
func checkDomain(s string) string {
	if strings.ContainsAny(s, "@* \t<>") || strings.HasPrefix(s, ".") || s == "" {
		return "write it alone, as in example.com; subdomains are domains of their own"
	}
	return ""
}

func compileAddresses(k *code, c *Condition) (predicate, *ConditionError) {
	src, e := addressSourceOf(c)
	if e != nil {
		return predicate{}, e
	}
	if src.part == PartSite && (c.Match == "" || c.Match == Is) {
		if e := c.eachValue(siteFault); e != nil {
			return predicate{}, e
		}
	}
	as := *c
	as.Index = 0 // it selects the source, whose texts are single addresses
	return k.compileText(&as, Is, src)
}

// addressSourceOf is the source that a predicate names.
func addressSourceOf(c *Condition) (textSource, *ConditionError) {
	lists, e := addressFields(c)
	if e != nil {
		return textSource{}, e
	}
	src := addressSource(lists, cmp.Or(c.Part, PartAddress))
	src.index = c.Index
	if !contains(addressParts, src.part) {
		return src, badValue("part", fmt.Sprintf("%q is no part of an address", src.part),
			suggest.Instead(src.part, addressParts, "the parts are"))
	}
	return src, nil
}

// siteFault requires a registered domain: no other is a site.
func siteFault(path, value string) *ConditionError {
	if e := domainFault(path, value); e != nil {
		return e
	}
	if site := authres.OrganizationalDomain(value); site != mailname.Domain(value) {
		return badValue(path, fmt.Sprintf("%q is not what its owner registered", value), "write "+site)
	}
	return nil
}

func addressFields(c *Condition) (addresses, *ConditionError) {
	var lists addresses
	for i, name := range c.Fields {
		list, ok := addressLists[name]
		if !ok {
			names := slices.Sorted(maps.Keys(addressLists))
			return 0, badValue(fmt.Sprintf("fields[%d]", i), fmt.Sprintf("%q is no field of addresses", name),
				suggest.Instead(name, names, "the fields are"))
		}
		lists |= list
	}
	return lists, nil
}

func compileAddressCount(k *code, c *Condition) (predicate, *ConditionError) {
	lists, e := addressFields(c)
	if e != nil {
		return predicate{}, e
	}
	index := c.Index
	return countPredicate(c, func(v *view) int { return v.countAddresses(lists, index) })
}

func compileRecipientCount(_ *code, c *Condition) (predicate, *ConditionError) {
	return countPredicate(c, func(v *view) int { return v.countAddresses(inTo|inCc|inBcc, 0) })
}

func (v *view) countAddresses(lists addresses, index int) int {
	n := 0
	v.eachAddressAt(lists, index, func(*postroom.Address) { n++ })
	return n
}
