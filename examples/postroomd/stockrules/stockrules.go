// Package stockrules has rules that ship with postroomd and do nothing until somebody puts them into the rules.
package stockrules

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/internal/suggest"
)

//go:embed *.yaml
var files embed.FS

// A Stock is a file of rules, with tests.
type Stock struct{ Name, Summary string }

// All are the stock rules.
var All = []Stock{
	{"screener", "label the first mail of each sender; the digest asks about them"},
	{"cold", "move offers of people whom you do not know"},
}

// ownDomain is that of the organisation in the files.
const ownDomain = "example.org"

var domainName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?\.[a-z][a-z0-9-]*[a-z0-9]$`)

// Text returns the file of a name. domain is that of the owner's organisation, whose mail is of people who are known;
// empty: nobody is known by a domain.
func Text(name, domain string) (string, error) {
	if !slices.ContainsFunc(All, func(s Stock) bool { return s.Name == name }) {
		names := make([]string, len(All))
		for i, s := range All {
			names[i] = s.Name
		}
		return "", usage.Errorf("there are no stock rules %q; %s", name, suggest.Instead(name, names, "there are"))
	}
	domain = strings.ToLower(domain)
	if domain != "" && !domainName.MatchString(domain) {
		return "", usage.Errorf("--domain %q is no domain; write it as example.com", domain)
	}
	text, err := files.ReadFile(name + ".yaml")
	if err != nil {
		return "", fmt.Errorf("stock rules: %w", err)
	}
	if domain != "" {
		return strings.ReplaceAll(string(text), ownDomain, domain), nil
	}
	return withoutOrganisation(string(text)), nil
}

// withoutOrganisation leaves out the conditions and the tests about the owner's organisation.
func withoutOrganisation(text string) string {
	lines := strings.SplitAfter(text, "\n")
	var kept []string
	for i := 0; i < len(lines); i++ {
		if strings.Contains(lines[i], "name: a colleague") {
			i += 2
			continue
		}
		if !strings.Contains(lines[i], ownDomain) {
			kept = append(kept, lines[i])
		}
	}
	return strings.ReplaceAll(strings.Join(kept, ""), ", and your organisation.", ".")
}
