package access

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// minKey is the least length of a key, in bytes.
const minKey = 32

// A signer makes cookies that only it can make.
type signer struct {
	key    []byte
	secure bool // browsers send the cookies by HTTPS only
}

// A signed is the content of a cookie, and when it ends.
type signed[T any] struct {
	Until time.Time `json:"until"`
	What  T         `json:"what"`
}

var encoding = base64.RawURLEncoding

// set sets a cookie that ends after a time.
func set[T any](s signer, w http.ResponseWriter, name string, what T, lasts time.Duration) error {
	text, err := json.Marshal(signed[T]{time.Now().Add(lasts), what})
	if err != nil {
		return err
	}
	s.write(w, name, encoding.EncodeToString(text)+"."+encoding.EncodeToString(s.mac(name, text)), int(lasts.Seconds()))
	return nil
}

// read returns the content of a cookie, if the signer has made it and it has not ended.
func read[T any](s signer, r *http.Request, name string) (what T, ok bool) {
	cookies := r.CookiesNamed(s.named(name))
	if len(cookies) != 1 {
		return what, false
	}
	text, mac, _ := strings.Cut(cookies[0].Value, ".")
	content, err := encoding.DecodeString(text)
	if err != nil {
		return what, false
	}
	got, err := encoding.DecodeString(mac)
	if err != nil || !hmac.Equal(got, s.mac(name, content)) {
		return what, false
	}
	var c signed[T]
	if json.Unmarshal(content, &c) != nil || !time.Now().Before(c.Until) {
		return what, false
	}
	return c.What, true
}

// clear makes the browser forget a cookie.
func (s signer) clear(w http.ResponseWriter, name string) { s.write(w, name, "", -1) }

// mac signs the content for one name: no cookie stands for another.
func (s signer) mac(name string, content []byte) []byte {
	h := hmac.New(sha256.New, s.key)
	_, _ = h.Write([]byte(name + "\x00"))
	_, _ = h.Write(content)
	return h.Sum(nil)
}

// write sets a cookie that is not sent with what other sites post. It is sent where a person comes by a link, as from
// the provider.
func (s signer) write(w http.ResponseWriter, name, value string, age int) {
	//nolint:gosec // without HTTPS browsers would not keep a secure cookie
	http.SetCookie(w, &http.Cookie{Name: s.named(name), Value: value, Path: "/", MaxAge: age, HttpOnly: true,
		Secure: s.secure, SameSite: http.SameSiteLaxMode})
}

// named is the name of a cookie: by HTTPS, one that no other host can set.
func (s signer) named(name string) string {
	if s.secure {
		return "__Host-postroom-" + name
	}
	return "postroom-" + name
}
