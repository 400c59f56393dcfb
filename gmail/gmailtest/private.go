package gmailtest

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net"
	"net/http"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/wire"
)

// checkToken refuses settings that would let others in beside Config.Token.
func (c *Config) checkToken() error {
	o := c.OAuth
	if c.Token != "" && (c.Control || o.Required || len(o.Clients) > 0 || o.AccessTTL != 0 || o.RefreshTTL != 0) {
		return errors.New("gmailtest: Config.Token is the only access to the server; leave Config.Control and Config.OAuth out")
	}
	return nil
}

// authenticateOwner accepts Config.Token. Its timing does not reveal how much of a token is right.
func (s *Server) authenticateOwner(token string) (*credential, error) {
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(s.token))
	if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
		return nil, wire.InvalidCredentials()
	}
	return &credential{account: s.owner}, nil
}

// byOwnName refuses requests by another host name to a server on a loopback address: a web page whose name server
// returns that address would have the server's origin, and could read everything.
func byOwnName(next http.HandlerFunc, listener net.Addr) http.HandlerFunc {
	if at, ok := listener.(*net.TCPAddr); !ok || !at.IP.IsLoopback() {
		return next
	}
	return func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "gmailtest: this server is reached as localhost or 127.0.0.1 only", http.StatusMisdirectedRequest)
			return
		}
		next(w, r)
	}
}
