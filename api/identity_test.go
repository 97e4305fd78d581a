package api_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/api"
	"seckill/model"
)

var (
	oldSecret = []byte("an old secret of thirty-two bytes")
	newSecret = []byte("a new secret of thirty-two bytes!")
)

func guests(secrets ...[]byte) *api.Identity {
	return api.NewIdentity(api.IdentityOptions{Mode: api.ModeGuest, Secrets: secrets})
}

// request is a context for a request with these cookies, and what is written to it.
func request(cookies ...*http.Cookie) (*gin.Context, *httptest.ResponseRecorder) {
	w := httptest.NewRecorder()
	c := gin.CreateTestContextOnly(w, gin.New())
	c.Request = httptest.NewRequest(http.MethodGet, "/", nil)
	for _, cookie := range cookies {
		c.Request.AddCookie(cookie)
	}
	return c, w
}

// give has a new guest made, and returns it with its cookie.
func give(t testing.TB, id *api.Identity) (model.Buyer, *http.Cookie) {
	t.Helper()
	c, w := request()
	buyer, err := id.Give(c)
	if err != nil {
		t.Fatal(err)
	}
	cookies := w.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("cookies set: %v, want one", cookies)
	}
	return buyer, cookies[0]
}

func wantNone(t *testing.T, buyer model.Buyer, err error) {
	t.Helper()
	if !errors.Is(err, &model.Error{Code: model.CodeUnauthenticated}) || buyer != "" {
		t.Errorf("buyer %q, error %v, want none and unauthenticated", buyer, err)
	}
}

func TestGuestComesBackByCookie(t *testing.T) {
	t.Parallel()
	id := api.NewIdentity(api.IdentityOptions{Mode: api.ModeGuest, Secrets: [][]byte{newSecret}, Secure: true})
	buyer, cookie := give(t, id)
	if len(buyer) != 22 {
		t.Errorf("guest id %q, want 22 characters", buyer)
	}
	if cookie.Name != "seckill_buyer" || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode ||
		cookie.Path != "/" || !cookie.Secure || cookie.MaxAge != 365*24*3600 {
		t.Errorf("cookie %v", cookie)
	}
	c, w := request(cookie)
	if back, err := id.Buyer(c); err != nil || back != buyer {
		t.Errorf("Buyer = %q, %v, want %q", back, err, buyer)
	}
	if back, err := id.Give(c); err != nil || back != buyer {
		t.Errorf("Give = %q, %v, want %q", back, err, buyer)
	}
	if set := w.Result().Cookies(); len(set) != 0 {
		t.Errorf("a known guest got a cookie again: %v", set)
	}
}

func TestGiveIsOneBuyerForOneRequest(t *testing.T) {
	t.Parallel()
	id := guests(newSecret)
	c, w := request()
	first, err := id.Give(c)
	if err != nil {
		t.Fatal(err)
	}
	second, err := id.Give(c)
	if err != nil || second != first {
		t.Errorf("second Give = %q, %v, want %q", second, err, first)
	}
	if buyer, err := id.Buyer(c); err != nil || buyer != first {
		t.Errorf("Buyer = %q, %v, want %q", buyer, err, first)
	}
	if set := w.Result().Cookies(); len(set) != 1 {
		t.Errorf("cookies set: %v, want one", set)
	}
	if other, _ := give(t, id); other == first {
		t.Errorf("two requests got the same guest %q", other)
	}
}

func TestGuestSecretRotates(t *testing.T) {
	t.Parallel()
	buyer, old := give(t, guests(oldSecret))
	both := guests(newSecret, oldSecret)
	c, _ := request(old)
	if back, err := both.Buyer(c); err != nil || back != buyer {
		t.Errorf("under both secrets: %q, %v, want %q", back, err, buyer)
	}
	c, _ = request(old)
	back, err := guests(newSecret).Buyer(c)
	wantNone(t, back, err)

	_, fresh := give(t, both)
	c, _ = request(fresh)
	if _, err := guests(newSecret).Buyer(c); err != nil {
		t.Errorf("the first secret does not sign: %v", err)
	}
}

func TestGuestCookieIsGoodForAYear(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		id := guests(newSecret)
		buyer, cookie := give(t, id)
		c, _ := request(cookie)
		time.Sleep(364 * 24 * time.Hour)
		if back, err := id.Buyer(c); err != nil || back != buyer {
			t.Errorf("after 364 days: %q, %v, want %q", back, err, buyer)
		}
		time.Sleep(2 * 24 * time.Hour)
		back, err := id.Buyer(c)
		wantNone(t, back, err)
	})
}

func TestBadGuestCookieCountsAsNone(t *testing.T) {
	t.Parallel()
	id := guests(newSecret)
	buyer, good := give(t, id)
	_, foreign := give(t, guests(oldSecret))
	bad := map[string]string{
		"empty": "", "plain id": string(buyer), "garbage": "%%%", "foreign secret": foreign.Value,
		"cut": good.Value[:len(good.Value)/2], "huge": strings.Repeat("A", 5_000),
		"first byte": "A" + good.Value[1:], "mac": good.Value[:len(good.Value)-6] + "AAAAAA",
	}
	for name, value := range bad {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, w := request(&http.Cookie{Name: good.Name, Value: value})
			got, err := id.Buyer(c)
			wantNone(t, got, err)
			got, err = id.Give(c)
			if err != nil || got == buyer || len(w.Result().Cookies()) != 1 {
				t.Errorf("Give = %q, %v, cookies %v, want a new guest", got, err, w.Result().Cookies())
			}
			c, _ = request(&http.Cookie{Name: good.Name, Value: value}, good)
			if got, err := id.Buyer(c); err != nil || got != buyer {
				t.Errorf("before a good one: %q, %v", got, err)
			}
		})
	}
}

func TestHeaderBuyer(t *testing.T) {
	t.Parallel()
	id := api.NewIdentity(api.IdentityOptions{Mode: api.ModeHeader, Trusted: []netip.Prefix{
		netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fe80::/10")}})
	const inside, outside = "10.1.2.3:4567", "10.2.0.1:4567"
	long := strings.Repeat("b", model.MaxBuyer)
	for name, test := range map[string]struct {
		peer    string
		headers []string
		forward string
		want    model.Buyer
	}{
		"good":                   {inside, []string{"alice"}, "", "alice"},
		"bytewise":               {inside, []string{"Alice~!"}, "", "Alice~!"},
		"longest":                {inside, []string{long}, "", model.Buyer(long)},
		"IPv6 with zone":         {"[fe80::1%eth0]:80", []string{"alice"}, "", "alice"},
		"IPv4 in IPv6":           {"[::ffff:10.1.2.3]:80", []string{"alice"}, "", "alice"},
		"missing":                {inside, nil, "", ""},
		"empty":                  {inside, []string{""}, "", ""},
		"too long":               {inside, []string{long + "b"}, "", ""},
		"space inside":           {inside, []string{"al ice"}, "", ""},
		"control":                {inside, []string{"alice\t"}, "", ""},
		"DEL":                    {inside, []string{"alice\x7f"}, "", ""},
		"not ASCII":              {inside, []string{"ålice"}, "", ""},
		"twice":                  {inside, []string{"alice", "alice"}, "", ""},
		"another peer":           {outside, []string{"alice"}, "", ""},
		"another peer forwarded": {outside, []string{"alice"}, "10.1.2.3", ""},
		"no address":             {"@", []string{"alice"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, w := request()
			c.Request.RemoteAddr = test.peer
			for _, value := range test.headers {
				c.Request.Header.Add("X-Buyer-ID", value)
			}
			if test.forward != "" {
				c.Request.Header.Set("X-Forwarded-For", test.forward)
			}
			for call, ask := range map[string]func(*gin.Context) (model.Buyer, error){"Buyer": id.Buyer, "Give": id.Give} {
				buyer, err := ask(c)
				if test.want == "" {
					wantNone(t, buyer, err)
				} else if err != nil || buyer != test.want {
					t.Errorf("%s = %q, %v, want %q", call, buyer, err, test.want)
				}
			}
			if set := w.Result().Cookies(); len(set) != 0 {
				t.Errorf("cookies set: %v, want none", set)
			}
		})
	}
}

func TestHeaderModeIgnoresCookies(t *testing.T) {
	t.Parallel()
	_, cookie := give(t, guests(newSecret))
	id := api.NewIdentity(api.IdentityOptions{Mode: api.ModeHeader, Secrets: [][]byte{newSecret}})
	c, _ := request(cookie)
	buyer, err := id.Buyer(c)
	wantNone(t, buyer, err)
}

func BenchmarkGuestBuyer(b *testing.B) {
	id := guests(newSecret)
	_, cookie := give(b, id)
	c, _ := request(cookie)
	for b.Loop() {
		if _, err := id.Buyer(c); err != nil {
			b.Fatal(err)
		}
	}
}
