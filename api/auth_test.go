package api_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/api"
	"seckill/model"
	"seckill/model/store"
)

const (
	adminToken = "sixteen characters"
	password   = "correct horse"
)

// office is an auth on a store of its own, in which an admin (amy) and somebody else (bob) have the same password.
type office struct {
	*api.Auth
	store *store.Store
	now   time.Time
}

func newOffice(t *testing.T, opt api.AuthOptions) *office {
	t.Helper()
	ctx := context.Background()
	o := &office{now: time.Now()}
	s, err := store.Open(ctx, "sqlite://"+filepath.Join(t.TempDir(), "seckill.db"),
		store.Options{Now: func() time.Time { return o.now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := s.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	hash, err := api.HashPassword(password)
	if err != nil {
		t.Fatal(err)
	}
	for name, role := range map[string]string{"amy": store.RoleAdmin, "bob": "helper"} {
		if _, err := s.CreateUser(ctx, store.User{Name: name, Hash: hash, Role: role}); err != nil {
			t.Fatal(err)
		}
	}
	opt.Store = s
	o.store, o.Auth = s, api.NewAuth(opt)
	return o
}

// login is the session cookie of a login, which comes with the cookies before.
func (o *office) login(t *testing.T, name string, before ...*http.Cookie) *http.Cookie {
	t.Helper()
	c, w := request(before...)
	user, err := o.Login(c, name, password)
	if err != nil || user.Name != name {
		t.Fatalf("Login = %+v, %v", user, err)
	}
	return onlyCookie(t, w)
}

func onlyCookie(t *testing.T, w *httptest.ResponseRecorder) *http.Cookie {
	t.Helper()
	cookies := w.Result().Cookies()
	if len(cookies) != 1 || cookies[0].Name != "seckill_session" {
		t.Fatalf("cookies set: %v, want seckill_session", cookies)
	}
	return cookies[0]
}

// who is the name of the user whom the cookies log in, empty for nobody.
func (o *office) who(t *testing.T, cookies ...*http.Cookie) string {
	t.Helper()
	c, _ := request(cookies...)
	user, err := o.User(c)
	if err != nil && !isCode(err, model.CodeUnauthenticated) {
		t.Fatal(err)
	}
	return user.Name
}

func isCode(err error, code model.Code) bool { return errors.Is(err, &model.Error{Code: code}) }

func TestNoAnswerFromSQLIsUnavailable(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	o := newOffice(t, api.AuthOptions{Log: slog.New(slog.NewTextHandler(&log, nil))})
	cookie := o.login(t, "amy")
	must(t, o.store.Close())
	c, _ := request(cookie)
	_, login := o.Login(c, "amy", password)
	_, user := o.User(c)
	for name, err := range map[string]error{"login": login, "user": user, "admin": o.Admin(c), "logout": o.Logout(c)} {
		if !isCode(err, model.CodeUnavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !strings.Contains(log.String(), `level=WARN msg="no answer" doing="read the user" error=`) {
		t.Errorf("log: %s", log.String())
	}
}

func TestLoginCookie(t *testing.T) {
	t.Parallel()
	o := newOffice(t, api.AuthOptions{Secure: true})
	cookie := o.login(t, "amy")
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Path != "/" || !cookie.Secure ||
		cookie.MaxAge < 12*3600-60 || cookie.MaxAge > 12*3600+1 {
		t.Errorf("cookie %v", cookie)
	}
	if name := o.who(t, cookie); name != "amy" {
		t.Errorf("logged in as %q, want amy", name)
	}
	if name := o.who(t); name != "" {
		t.Errorf("without a cookie: %q", name)
	}
	if name := o.who(t, &http.Cookie{Name: cookie.Name, Value: "made-up"}); name != "" {
		t.Errorf("with a made-up cookie: %q", name)
	}
}

func TestLoginRotatesTheToken(t *testing.T) {
	t.Parallel()
	o := newOffice(t, api.AuthOptions{})
	// A token that somebody has planted is not the one that the login makes good.
	planted := &http.Cookie{Name: "seckill_session", Value: "planted"}
	first := o.login(t, "amy", planted)
	if first.Value == planted.Value || o.who(t, planted) != "" {
		t.Errorf("a planted token is logged in")
	}
	second := o.login(t, "bob", first)
	if second.Value == first.Value || o.who(t, first) != "" || o.who(t, second) != "bob" {
		t.Errorf("after a second login the first token is %q, the second %q", o.who(t, first), o.who(t, second))
	}
}

func TestLogoutEndsTheSession(t *testing.T) {
	t.Parallel()
	o := newOffice(t, api.AuthOptions{})
	cookie, other := o.login(t, "amy"), o.login(t, "amy")
	c, w := request(cookie)
	if _, err := o.User(c); err != nil {
		t.Fatal(err)
	}
	if err := o.Logout(c); err != nil {
		t.Fatal(err)
	}
	if dropped := onlyCookie(t, w); dropped.MaxAge >= 0 || dropped.Value != "" {
		t.Errorf("cookie %v, want one that is over", dropped)
	}
	if _, err := o.User(c); !isCode(err, model.CodeUnauthenticated) {
		t.Errorf("User in the request of the logout: %v", err)
	}
	if o.who(t, cookie) != "" || o.who(t, other) != "amy" {
		t.Errorf("after logout %q and elsewhere %q, want nobody and amy", o.who(t, cookie), o.who(t, other))
	}
	c, _ = request()
	if err := o.Logout(c); err != nil {
		t.Errorf("logout of nobody: %v", err)
	}
}

func TestLoginLastsTwelveHours(t *testing.T) {
	t.Parallel()
	o := newOffice(t, api.AuthOptions{})
	cookie := o.login(t, "amy")
	o.now = o.now.Add(12*time.Hour - time.Minute)
	if name := o.who(t, cookie); name != "amy" {
		t.Errorf("just before the end: %q", name)
	}
	o.now = o.now.Add(2 * time.Minute)
	if name := o.who(t, cookie); name != "" {
		t.Errorf("after the end: %q", name)
	}
}

func TestWrongLogin(t *testing.T) {
	t.Parallel()
	o := newOffice(t, api.AuthOptions{})
	var said []string
	for _, try := range [][2]string{{"amy", "wrong"}, {"amy", ""}, {"Amy", password}, {"nobody", ""}, {"", ""}} {
		c, w := request()
		_, err := o.Login(c, try[0], try[1])
		if !isCode(err, model.CodeUnauthenticated) || len(w.Result().Cookies()) != 0 {
			t.Fatalf("Login(%q) = %v, cookies %v", try, err, w.Result().Cookies())
		}
		if said = append(said, err.Error()); err.Error() != said[0] {
			t.Errorf("Login(%q) says %q and not %q", try, err, said[0])
		}
	}
}

func TestNewPasswordEndsTheSession(t *testing.T) {
	t.Parallel()
	o := newOffice(t, api.AuthOptions{})
	cookie := o.login(t, "amy")
	if err := o.store.SetUserHash(t.Context(), "amy", "another"); err != nil {
		t.Fatal(err)
	}
	if name := o.who(t, cookie); name != "" {
		t.Errorf("still %q after a new password", name)
	}
}

func TestUserIsReadOncePerRequest(t *testing.T) {
	t.Parallel()
	o := newOffice(t, api.AuthOptions{})
	c, _ := request(o.login(t, "amy"))
	first, err := o.User(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.store.Sessions().DeleteCtx(t.Context(), c.Request.CookiesNamed("seckill_session")[0].Value); err != nil {
		t.Fatal(err)
	}
	if again, err := o.User(c); err != nil || again != first {
		t.Errorf("second User = %+v, %v, want %+v", again, err, first)
	}
}

func TestAdmin(t *testing.T) {
	t.Parallel()
	o := newOffice(t, api.AuthOptions{Token: adminToken})
	amy, bob := o.login(t, "amy"), o.login(t, "bob")
	off := api.NewAuth(api.AuthOptions{Store: o.store})
	for name, test := range map[string]struct {
		auth          *api.Auth
		cookie        *http.Cookie
		authorization string
		want          model.Code
	}{
		"admin's session":           {o.Auth, amy, "", ""},
		"token":                     {o.Auth, nil, "Bearer " + adminToken, ""},
		"token, scheme in any case": {o.Auth, nil, "bEARER  " + adminToken, ""},
		"another scheme":            {o.Auth, amy, "Basic YW15OnB3", ""},
		"another user's session":    {o.Auth, bob, "", model.CodeForbidden},
		"nobody":                    {o.Auth, nil, "", model.CodeUnauthenticated},
		"wrong token":               {o.Auth, nil, "Bearer wrong", model.CodeUnauthenticated},
		"no token":                  {o.Auth, nil, "Bearer", model.CodeUnauthenticated},
		"more than the token":       {o.Auth, nil, "Bearer " + adminToken + "x", model.CodeUnauthenticated},
		"wrong token with session":  {o.Auth, amy, "Bearer wrong", model.CodeUnauthenticated},
		"off, empty token":          {off, nil, "Bearer ", model.CodeUnauthenticated},
		"off, token":                {off, nil, "Bearer " + adminToken, model.CodeUnauthenticated},
		"off, admin's session":      {off, amy, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, w := adminRequest(test.cookie, test.authorization)
			err := test.auth.Admin(c)
			if test.want == "" && err != nil || test.want != "" && !isCode(err, test.want) {
				t.Errorf("Admin = %v, want %q", err, test.want)
			}
			challenged := w.Header().Get("WWW-Authenticate") == "Bearer"
			if challenged != (test.want == model.CodeUnauthenticated) {
				t.Errorf("WWW-Authenticate %q beside %q", w.Header().Get("WWW-Authenticate"), test.want)
			}
		})
	}
}

func adminRequest(cookie *http.Cookie, authorization string) (*gin.Context, *httptest.ResponseRecorder) {
	c, w := request()
	if cookie != nil {
		c.Request.AddCookie(cookie)
	}
	if authorization != "" {
		c.Request.Header.Set("Authorization", authorization)
	}
	return c, w
}
