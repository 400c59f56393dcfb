package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/internal/webui"
)

// LocalName is the name that is recorded for who has signed in on this machine: the address does not say who used it.
const LocalName = "the page"

// Local lets next do everything: the host has made sure that the owner of this machine's data asks.
func Local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(With(r.Context(), Person{Name: LocalName, Role: Own})))
	})
}

// Require refuses whoever may not do what the role is needed for to all mailboxes. Other methods than GET and HEAD need
// the second role.
func Require(see, change Role, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		role := see
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			role = change
		}
		if !From(r.Context()).May(role, Everything) {
			http.Error(w, Refused, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Refused is what a person reads who may not do something.
const Refused = "You may not do this here. The table web.people says what each person may do, and with which mailboxes."

// A Config says how people from elsewhere are known: by a proxy, or by an OpenID provider.
type Config struct {
	People People
	URL    string // the address of the page, as people type it

	ProxyHeader    string // the header field with a person's address; empty: no proxy
	ProxyAddresses []netip.Prefix

	Issuer, ClientID, ClientSecret string // of the OpenID provider
	// Key signs cookies, at least 32 bytes. Only a provider needs it.
	Key []byte
	// Client speaks to the provider; nil: one that waits 10 s for an answer.
	Client *http.Client
	// Logger logs faults of the provider; nil: slog.Default.
	Logger *slog.Logger
}

// A Guard lets in people from elsewhere. It is safe for concurrent use.
type Guard struct {
	cfg    Config
	url    *url.URL
	signIn *signIn // nil: a proxy knows people
}

// New makes a Guard. The provider is asked when somebody signs in, and not before.
func New(cfg Config) (*Guard, error) {
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	g := &Guard{cfg: cfg}
	var err error
	switch g.url, err = url.Parse(cfg.URL); {
	case err != nil || g.url.Host == "":
		return nil, fmt.Errorf("access: %q is no address of a page", cfg.URL)
	case cfg.ProxyHeader != "" && cfg.Issuer != "":
		return nil, errors.New("access: people are known either by a proxy or by a provider")
	case cfg.ProxyHeader != "":
		return g, nil
	case cfg.Issuer == "":
		return nil, errors.New("access: neither a proxy nor a provider says who people are")
	case len(cfg.Key) < minKey:
		return nil, fmt.Errorf("access: a key has at least %d bytes", minKey)
	}
	g.signIn = newSignIn(cfg, g.url)
	return g, nil
}

// Knows reports whether the host of a request is that of the page.
func (g *Guard) Knows(host string) bool {
	return g != nil && strings.EqualFold(withoutPort(host, g.url.Scheme), withoutPort(g.url.Host, g.url.Scheme))
}

// withoutPort cuts the default port of the scheme, which browsers leave out.
func withoutPort(host, scheme string) string {
	return strings.TrimSuffix(host, map[string]string{"https": ":443", "http": ":80"}[scheme])
}

// Passed reports whether a proxy has passed a request on: it says so, or who the person is.
func (g *Guard) Passed(r *http.Request) bool {
	names := []string{"Forwarded", "X-Forwarded-For"}
	if g != nil && g.cfg.ProxyHeader != "" {
		names = append(names, g.cfg.ProxyHeader)
	}
	return slices.ContainsFunc(names, func(name string) bool { return len(r.Header.Values(name)) > 0 })
}

// Protect lets requests through to next with the person who makes them. Others are refused, or asked to sign in.
func (g *Guard) Protect(next http.Handler) http.Handler {
	return webui.Secured(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.signIn != nil && g.signIn.serves(w, r) {
			return
		}
		address, err := g.address(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		if address == "" {
			g.signIn.ask(w, r)
			return
		}
		person, ok := g.cfg.People.Of(address)
		if !ok {
			g.unknown(w, address)
			return
		}
		next.ServeHTTP(w, r.WithContext(With(r.Context(), person)))
	}))
}

// unknown refuses somebody whom the table does not have. Who has signed in here may do so as somebody else.
func (g *Guard) unknown(w http.ResponseWriter, address string) {
	text := "You are known as " + webui.Printable(address, webui.MaxLine) + ", and web.people does not have that address."
	if g.signIn != nil {
		if err := g.signIn.chooseAnother(w); err == nil {
			text += " Open the page again to sign in as somebody else."
		}
	}
	http.Error(w, text, http.StatusForbidden)
}

// address returns the address of the person who makes a request; empty if they have to sign in.
func (g *Guard) address(r *http.Request) (string, error) {
	if g.signIn != nil {
		return g.signIn.signedIn(r), nil
	}
	if !among(r.RemoteAddr, g.cfg.ProxyAddresses) {
		return "", errors.New("this page is reached through its proxy only")
	}
	values := r.Header.Values(g.cfg.ProxyHeader)
	if len(values) != 1 || !isAddress(values[0]) {
		return "", fmt.Errorf("the proxy has not said who you are: it sets %s once, to a mail address", g.cfg.ProxyHeader)
	}
	return values[0], nil
}

func among(remote string, prefixes []netip.Prefix) bool {
	at, err := netip.ParseAddrPort(remote)
	return err == nil && slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(at.Addr().Unmap()) })
}

// ParsePrefixes reads addresses, and networks such as 10.0.0.0/8.
func ParsePrefixes(texts []string) ([]netip.Prefix, error) {
	prefixes := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			var a netip.Addr
			if a, err = netip.ParseAddr(text); err != nil {
				return nil, fmt.Errorf("%q is neither an IP address nor a network", text)
			}
			p = netip.PrefixFrom(a.WithZone(""), a.BitLen())
		}
		prefixes[i] = p.Masked()
	}
	return prefixes, nil
}

// IsLoopback accepts names and addresses that lead to this machine regardless of name servers.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// background is the context of what outlives a request, with the client for the provider.
func background(c *http.Client) context.Context { return withClient(context.Background(), c) }
