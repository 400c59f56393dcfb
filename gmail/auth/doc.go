// Package auth signs people in to Gmail and keeps the access that they grant.
//
//	app := auth.App{ClientID: id, ClientSecret: secret}
//	tokens, err := tokenstore.Open(ctx, tokenstore.Config{Dir: dir})
//
//	// once, at the command line:
//	login, err := auth.Login(ctx, auth.LoginConfig{App: app, Tokens: tokens, Open: auth.OpenBrowser})
//
//	// in the program that works on the mailbox:
//	source, err := auth.NewSource(auth.SourceConfig{App: app, Tokens: tokens, Email: login.Grant.Email})
//	client, err := gmail.NewClient(gmail.ClientConfig{HTTPClient: source.HTTPClient()})
//
// [Login] runs the authorization code flow for installed programs (RFC 8252) with PKCE (RFC 7636): a browser asks the
// person, and is redirected to a server on the loopback interface. The result is a [Grant]: a refresh token, kept in
// a [Tokens]. A [Source] exchanges it for access tokens and adds them to requests.
//
// # Storage
//
// A refresh token reads the mailbox for as long as it is valid. Package auth/keychain keeps it in the keychain of the
// operating system, auth/agefile in an encrypted file, and auth/tokenstore chooses between the two. [Memory] is for
// tests. Access tokens live in memory only.
//
// # Refreshing
//
// A Source refreshes once for all waiting goroutines, five minutes before the access token expires, or when Gmail
// answers a request with 401. The request is then sent once more. Before each refresh the Source reads the grant
// again, so that a new sign-in in another process takes effect without a restart. A new refresh token is saved before
// the access token that came with it is used.
//
// # Invalid grants
//
// A refresh token ends when the person revokes it or changes the password, when it is unused for six months, and
// after seven days if the program's consent screen is in testing. The error is then a [*gmail.Error] of the class
// [gmail.ClassReauthorize]. It is the same if there is no grant for the address. The Source does not ask the server
// about the same refresh token again.
//
// With [SourceConfig].Shared, other machines may have a grant for the address, and the class of a missing one is
// [gmail.ClassNoAccess]. A machine gets a grant by a [Login] on it, or by a copy of the directory of auth/agefile,
// with its key.
package auth
