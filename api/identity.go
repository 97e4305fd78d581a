package api

import (
	"net/netip"

	"github.com/gin-gonic/gin"

	"seckill/model"
)

// Identity tells who the buyer of a request is.
type Identity struct{}

// IdentityOptions of NewIdentity.
type IdentityOptions struct {
	Mode    string         // "guest" or "header"
	Secrets [][]byte       // sign the guest's cookie: the first signs, all verify
	Trusted []netip.Prefix // peers whose X-Buyer-ID is believed
	Secure  bool           // cookies only over https
}

// NewIdentity makes an identity of the mode.
func NewIdentity(opt IdentityOptions) *Identity { panic("todo") }

// Mode is the mode's name.
func (id *Identity) Mode() string { panic("todo") }

// Buyer is the buyer of the request. None, or one that is not believed: *model.Error of CodeUnauthenticated.
func (id *Identity) Buyer(c *gin.Context) (model.Buyer, error) { panic("todo") }

// Give is Buyer, but in guest mode a request without a good cookie gets a new buyer, with Set-Cookie.
func (id *Identity) Give(c *gin.Context) (model.Buyer, error) { panic("todo") }
