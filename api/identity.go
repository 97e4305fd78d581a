package api

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/gorilla/securecookie"

	"seckill/model"
)

// The modes of an identity.
const (
	ModeGuest  = "guest"
	ModeHeader = "header"
)

const (
	buyerCookie = "seckill_buyer"
	buyerAge    = 365 * 24 * time.Hour
	buyerHeader = "X-Buyer-Id" // as net/http spells it
	// newBuyerKey is where a request's context has the buyer that Give has made for it.
	newBuyerKey = "seckill.new_buyer"
)

// Identity tells who the buyer of a request is. Safe for concurrent use.
type Identity struct {
	mode    string
	codecs  []securecookie.Codec
	trusted []netip.Prefix
	secure  bool
}

// IdentityOptions of NewIdentity.
type IdentityOptions struct {
	Mode    string         // ModeGuest or ModeHeader
	Secrets [][]byte       // sign the guest's cookie: the first signs, all verify
	Trusted []netip.Prefix // peers whose X-Buyer-ID is believed
	Secure  bool           // cookies only over https
}

// NewIdentity makes an identity of the mode.
func NewIdentity(opt IdentityOptions) *Identity {
	id := &Identity{mode: opt.Mode, trusted: opt.Trusted, secure: opt.Secure}
	for _, secret := range opt.Secrets {
		id.codecs = append(id.codecs, buyerCodec(secret))
	}
	return id
}

// buyerCodec signs with a key of its own, so that nothing else that is signed under the secret passes for a buyer.
func buyerCodec(secret []byte) securecookie.Codec {
	key, err := hkdf.Key(sha256.New, secret, nil, "buyer-cookie", sha256.Size)
	if err != nil {
		panic(err) // only for a key longer than HKDF can make
	}
	return securecookie.New(key, nil).SetSerializer(securecookie.JSONEncoder{}).MaxAge(int(buyerAge.Seconds()))
}

// Mode is the mode's name.
func (id *Identity) Mode() string { return id.mode }

// Buyer is the buyer of the request. None, or one that is not believed: *model.Error of CodeUnauthenticated.
func (id *Identity) Buyer(c *gin.Context) (model.Buyer, error) {
	if id.mode == ModeHeader {
		return id.headerBuyer(c.Request)
	}
	if buyer, ok := c.Get(newBuyerKey); ok {
		return buyer.(model.Buyer), nil
	}
	return id.cookieBuyer(c.Request)
}

// Give is Buyer, but in guest mode a request without a good cookie gets a new buyer, with Set-Cookie. Asked again for
// the same request it answers the same buyer.
func (id *Identity) Give(c *gin.Context) (model.Buyer, error) {
	buyer, err := id.Buyer(c)
	if err == nil || id.mode == ModeHeader {
		return buyer, err
	}
	buyer = newGuest()
	value, err := securecookie.EncodeMulti(buyerCookie, buyer, id.codecs...)
	if err != nil {
		return "", fmt.Errorf("sign the buyer's cookie: %w", err)
	}
	http.SetCookie(c.Writer, &http.Cookie{
		Name: buyerCookie, Value: value, Path: "/", MaxAge: int(buyerAge.Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: id.secure,
	})
	c.Set(newBuyerKey, buyer)
	return buyer, nil
}

// newGuest is 16 random bytes in 22 characters.
func newGuest() model.Buyer {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: the runtime ends the program instead
	return model.Buyer(base64.RawURLEncoding.EncodeToString(b[:]))
}

// cookieBuyer is the buyer of the first cookie that this program has signed: one that another host or path has put
// before it counts as none.
func (id *Identity) cookieBuyer(r *http.Request) (model.Buyer, error) {
	for _, cookie := range r.CookiesNamed(buyerCookie) {
		var buyer model.Buyer
		err := securecookie.DecodeMulti(buyerCookie, cookie.Value, &buyer, id.codecs...)
		if err == nil && buyer.Valid() {
			return buyer, nil
		}
	}
	return "", errNoBuyer()
}

// headerBuyer is the buyer that a trusted proxy names. Two headers are none: one of them may be the client's own.
func (id *Identity) headerBuyer(r *http.Request) (model.Buyer, error) {
	values := r.Header[buyerHeader]
	if len(values) != 1 || !visible(values[0]) || !id.trusts(r.RemoteAddr) {
		return "", errNoBuyer()
	}
	return model.Buyer(values[0]), nil
}

// trusts reports whether the TCP peer itself, whatever it forwards, is one to believe.
func (id *Identity) trusts(peer string) bool {
	addr, err := netip.ParseAddrPort(peer)
	if err != nil {
		return false
	}
	ip := addr.Addr().Unmap().WithZone("")
	for _, prefix := range id.trusted {
		if prefix.Contains(ip) {
			return true
		}
	}
	return false
}

// visible reports whether s is 1 to model.MaxBuyer bytes of visible ASCII.
func visible(s string) bool {
	for n := range len(s) {
		if s[n] < '!' || s[n] > '~' {
			return false
		}
	}
	return model.Buyer(s).Valid()
}

func errNoBuyer() error { return unauthenticated("This request does not say who is buying.") }
