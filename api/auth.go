package api

import (
	"github.com/gin-gonic/gin"

	"seckill/model/store"
)

// Auth tells which user a request comes from: sessions in SQL under the cookie seckill_session, or the admin token.
type Auth struct{}

// AuthOptions of NewAuth.
type AuthOptions struct {
	Store  *store.Store
	Token  string // of the admin API; empty: no bearer
	Secure bool   // cookies only over https
}

// NewAuth makes an auth. It starts no goroutine.
func NewAuth(opt AuthOptions) *Auth { panic("todo") }

// HashPassword is the argon2id hash of a password, in its encoded form, for store.User. At most two are computed at a
// time in a process.
func HashPassword(password string) (string, error) { panic("todo") }

// Login starts a session for the user with this name and password, under a new token, and sets the cookie. A wrong name
// or password: *model.Error of CodeUnauthenticated, after the same time.
func (a *Auth) Login(c *gin.Context, name, password string) (store.User, error) { panic("todo") }

// Logout ends the request's session, if there is one, and drops the cookie.
func (a *Auth) Logout(c *gin.Context) error { panic("todo") }

// User is the user who is logged in. None: *model.Error of CodeUnauthenticated.
func (a *Auth) User(c *gin.Context) (store.User, error) { panic("todo") }

// Admin reports whether the request may administer: a session of an admin, or the token. Else *model.Error of
// CodeUnauthenticated; a user who is no admin: CodeForbidden.
func (a *Auth) Admin(c *gin.Context) error { panic("todo") }
