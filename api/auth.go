package api

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/gin-gonic/gin"

	"seckill/model"
	"seckill/model/store"
)

const (
	sessionCookie = "seckill_session"
	// sessionLife is how long a login lasts. There is no shorter idle time: each request would have to write to the
	// session, and such a write beside a logout would bring the session back.
	sessionLife = 12 * time.Hour
	// userKey is where a request's context has the answer of User.
	userKey = "seckill.user"
)

// Auth tells which user a request comes from: sessions in SQL under the cookie seckill_session, or the admin token.
// A session is read by the routes that ask, not by a middleware, which would buffer answers and break upgrades.
// Safe for concurrent use.
type Auth struct {
	store    *store.Store
	sessions *scs.SessionManager
	token    string
	log      *slog.Logger
}

// AuthOptions of NewAuth. Store is required.
type AuthOptions struct {
	Store  *store.Store
	Log    *slog.Logger // nil: none
	Token  string       // of the admin API; empty: no bearer
	Secure bool         // cookies only over https
}

// NewAuth makes an auth. It starts no goroutine.
func NewAuth(opt AuthOptions) *Auth {
	// Not scs.New, whose default store starts a goroutine that nobody ends.
	sessions := &scs.SessionManager{
		Lifetime: sessionLife,
		Store:    opt.Store.Sessions(),
		Codec:    scs.GobCodec{},
		Cookie: scs.SessionCookie{
			Name: sessionCookie, Path: "/", Persist: true,
			HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: opt.Secure,
		},
	}
	return &Auth{store: opt.Store, sessions: sessions, token: opt.Token, log: cmp.Or(opt.Log, slog.New(slog.DiscardHandler))}
}

// Login starts a session for the user with this name and password, under a new token, and sets the cookie; the session
// that the request came with ends. A wrong name or password: *model.Error of CodeUnauthenticated, after the same time.
// Too many logins at once, or no answer from SQL: model.ErrUnavailable.
func (a *Auth) Login(c *gin.Context, name, password string) (store.User, error) {
	user, err := a.checkPassword(c.Request.Context(), name, password)
	if err != nil {
		return store.User{}, err
	}
	if err := a.begin(c, user); err != nil {
		return store.User{}, a.unanswered("begin a session", err)
	}
	c.Set(userKey, whoami{user: user})
	return user, nil
}

// checkPassword is the user with this name and password.
func (a *Auth) checkPassword(ctx context.Context, name, password string) (store.User, error) {
	user, err := a.store.UserByName(ctx, name)
	known := err == nil
	if !known && !errors.Is(err, model.ErrNotFound) {
		return store.User{}, a.unanswered("read the user", err)
	}
	hash := user.Hash
	if !known {
		hash = nobodysHash
	}
	match, err := comparePassword(ctx, password, hash)
	if err != nil {
		return store.User{}, err
	}
	if !known || !match {
		return store.User{}, errBadLogin()
	}
	return user, nil
}

// begin replaces the request's session by one of this user.
func (a *Auth) begin(c *gin.Context, user store.User) error {
	ctx, err := a.load(c)
	if err != nil {
		return err
	}
	if err := a.sessions.RenewToken(ctx); err != nil {
		return err
	}
	a.sessions.Put(ctx, store.SessionUser, int64(user.ID))
	token, expiry, err := a.sessions.Commit(ctx)
	if err != nil {
		return err
	}
	// A change of the password ends the sessions that it finds. This one began later, and may be of the old password.
	now, err := a.store.User(ctx, user.ID)
	if err == nil && now.Hash != user.Hash {
		err = errBadLogin()
	}
	if err != nil {
		return errors.Join(err, a.sessions.Destroy(ctx))
	}
	a.sessions.WriteSessionCookie(ctx, c.Writer, token, expiry)
	return nil
}

// load is the request's context with its session, an empty one if it has none.
func (a *Auth) load(c *gin.Context) (context.Context, error) {
	token := ""
	if cookie, err := c.Request.Cookie(sessionCookie); err == nil {
		token = cookie.Value
	}
	return a.sessions.Load(c.Request.Context(), token)
}

// Logout ends the request's session, if there is one, and drops the cookie.
func (a *Auth) Logout(c *gin.Context) error {
	ctx, err := a.load(c)
	if err != nil {
		return a.unanswered("load the session", err)
	}
	if err := a.sessions.Destroy(ctx); err != nil {
		return a.unanswered("end the session", err)
	}
	a.sessions.WriteSessionCookie(ctx, c.Writer, "", time.Time{})
	c.Set(userKey, whoami{err: errNoUser()})
	return nil
}

// whoami is the answer of User, kept for the rest of the request.
type whoami struct {
	user store.User
	err  error
}

// User is the user who is logged in. None: *model.Error of CodeUnauthenticated; no answer from SQL:
// model.ErrUnavailable. SQL is asked once a request.
func (a *Auth) User(c *gin.Context) (store.User, error) {
	if known, ok := c.Get(userKey); ok {
		who := known.(whoami)
		return who.user, who.err
	}
	user, err := a.sessionUser(c)
	c.Set(userKey, whoami{user, err})
	return user, err
}

func (a *Auth) sessionUser(c *gin.Context) (store.User, error) {
	ctx, err := a.load(c)
	if err != nil {
		return store.User{}, a.unanswered("load the session", err)
	}
	id := a.sessions.GetInt64(ctx, store.SessionUser)
	if id == 0 {
		return store.User{}, errNoUser()
	}
	user, err := a.store.User(ctx, model.ID(id))
	switch {
	case errors.Is(err, model.ErrNotFound):
		return store.User{}, errNoUser()
	case err != nil:
		return store.User{}, a.unanswered("read the user", err)
	}
	return user, nil
}

// Admin reports whether the request may administer: a session of an admin, or the token. Else *model.Error of
// CodeUnauthenticated, with WWW-Authenticate set; a user who is no admin: CodeForbidden. A bearer that is sent decides
// alone: a wrong one is refused beside a good cookie too.
func (a *Auth) Admin(c *gin.Context) error {
	err := a.admin(c)
	if errors.Is(err, errNoUser()) {
		c.Header("WWW-Authenticate", "Bearer")
	}
	return err
}

func (a *Auth) admin(c *gin.Context) error {
	if token, sent := bearer(c.Request); sent {
		if a.token == "" || !equal(token, a.token) {
			return unauthenticated("The token is wrong.")
		}
		return nil
	}
	user, err := a.User(c)
	if err != nil {
		return err
	}
	if user.Role != store.RoleAdmin {
		return &model.Error{Code: model.CodeForbidden, Message: "Only an admin may do this."}
	}
	return nil
}

// bearer is the token of the Authorization header, if it has that scheme.
func bearer(r *http.Request) (token string, sent bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimLeft(token, " "), strings.EqualFold(scheme, "Bearer")
}

// equal compares in a time that tells neither where a and b differ nor how long they are.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// unanswered is a refusal as it is, and anything else as model.ErrUnavailable, with its cause logged.
func (a *Auth) unanswered(doing string, err error) error {
	if errors.As(err, new(*model.Error)) {
		return err
	}
	a.log.Warn("no answer", "doing", doing, "error", err)
	return fmt.Errorf("%w: %s: %w", model.ErrUnavailable, doing, err)
}

func errBadLogin() error { return unauthenticated("Name or password is wrong.") }

func errNoUser() error { return unauthenticated("You are not logged in.") }

func unauthenticated(message string) error {
	return &model.Error{Code: model.CodeUnauthenticated, Message: message}
}
