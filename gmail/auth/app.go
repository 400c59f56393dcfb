package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"
)

// An App is the program that asks for access, as registered with Google: an OAuth client of the type "Desktop app".
type App struct {
	// ClientID is the id of the OAuth client. Required.
	ClientID string
	// ClientSecret is the client's secret. Google also requires it of installed programs, where it is not secret.
	// Default: none.
	ClientSecret string
	// Endpoint is the authorization server. Default: Google's.
	Endpoint Endpoint
	// HTTPClient carries the requests to the server. Default: a client with a timeout of 30 s.
	HTTPClient *http.Client
}

// An Endpoint has the addresses of an authorization server. An empty address is Google's.
type Endpoint struct {
	AuthURL   string // the consent page
	TokenURL  string // where codes and refresh tokens are exchanged
	RevokeURL string // where tokens are revoked (RFC 7009)
}

// Google's addresses, from its discovery document.
const (
	googleAuthURL   = "https://accounts.google.com/o/oauth2/v2/auth"
	googleTokenURL  = "https://oauth2.googleapis.com/token" //nolint:gosec // an address
	googleRevokeURL = "https://oauth2.googleapis.com/revoke"
)

// requestTimeout bounds a request to the authorization server.
const requestTimeout = 30 * time.Second

// LogValue leaves out the secret.
func (a App) LogValue() slog.Value {
	return slog.GroupValue(slog.String("client_id", a.ClientID), slog.String("auth_url", a.Endpoint.AuthURL))
}

// String describes the App without its secret.
func (a App) String() string { return fmt.Sprintf("OAuth client %q", a.ClientID) }

// GoString is [App.String].
func (a App) GoString() string { return a.String() }

func (a App) withDefaults() App {
	a.Endpoint.AuthURL = cmp.Or(a.Endpoint.AuthURL, googleAuthURL)
	a.Endpoint.TokenURL = cmp.Or(a.Endpoint.TokenURL, googleTokenURL)
	a.Endpoint.RevokeURL = cmp.Or(a.Endpoint.RevokeURL, googleRevokeURL)
	a.HTTPClient = cmp.Or(a.HTTPClient, &http.Client{Timeout: requestTimeout})
	return a
}

func (a App) validate() error {
	var faults []error
	if a.ClientID == "" {
		faults = append(faults, errors.New(
			"auth: App.ClientID is empty; create an OAuth client of the type \"Desktop app\" in the "+
				"Google Cloud console"))
	}
	for name, address := range map[string]string{
		"AuthURL": a.Endpoint.AuthURL, "TokenURL": a.Endpoint.TokenURL, "RevokeURL": a.Endpoint.RevokeURL,
	} {
		if u, err := url.Parse(address); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			faults = append(faults, fmt.Errorf("auth: App.Endpoint.%s is %q; it must be an http or https address",
				name, address))
		}
	}
	return errors.Join(faults...)
}

// config returns the App as a configuration of package oauth2.
func (a App) config(redirect string, scopes []string) *oauth2.Config {
	return &oauth2.Config{
		ClientID: a.ClientID, ClientSecret: a.ClientSecret, RedirectURL: redirect, Scopes: scopes,
		Endpoint: oauth2.Endpoint{AuthURL: a.Endpoint.AuthURL, TokenURL: a.Endpoint.TokenURL,
			AuthStyle: oauth2.AuthStyleInParams},
	}
}

// carry returns a context in which package oauth2 uses the App's client.
func (a App) carry(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, a.HTTPClient)
}
