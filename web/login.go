package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"seckill/api"
	"seckill/model"
)

type loginView struct {
	view
	Name  string
	Next  string
	Wrong bool
}

// showLogin is the form; who is logged in already goes on.
func (s *site) showLogin(c *gin.Context) error {
	next := localPath(c.Query("next"))
	if _, err := s.auth.User(c); err == nil {
		c.Redirect(http.StatusSeeOther, next)
		return nil
	}
	return s.render(c, http.StatusOK, "login.html", loginView{view: s.view(c, s.text(c, "login.title")), Next: next})
}

func (s *site) login(c *gin.Context) error {
	if err := readForm(c); err != nil {
		return err
	}
	name, next := c.PostForm("name"), localPath(c.PostForm("next"))
	_, err := s.auth.Login(c, name, c.PostForm("password"))
	var e *model.Error
	switch {
	case errors.As(err, &e) && e.Code == model.CodeUnauthenticated:
		return s.render(c, http.StatusUnauthorized, "login.html",
			loginView{view: s.view(c, s.text(c, "login.title")), Name: name, Next: next, Wrong: true})
	case err != nil:
		return err
	}
	c.Redirect(http.StatusSeeOther, next)
	return nil
}

func (s *site) logout(c *gin.Context) error {
	if err := s.auth.Logout(c); err != nil {
		return err
	}
	c.Redirect(http.StatusSeeOther, "/?notice=logged_out")
	return nil
}

// admin lets only admins through: who is not logged in goes to the form and comes back after it.
func (s *site) admin(h handler) handler {
	return func(c *gin.Context) error {
		err := s.auth.Admin(c)
		if err == nil {
			return h(c)
		}
		if api.Status(err) != http.StatusUnauthorized {
			return err
		}
		if c.Request.Method != http.MethodGet && c.Request.Method != http.MethodHead {
			return err
		}
		c.Redirect(http.StatusSeeOther, "/login?next="+url.QueryEscape(c.Request.URL.Path))
		return nil
	}
}

// localPath is a path of this site, or the dashboard for anything else.
func localPath(path string) string {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\\r\n\t") {
		return "/admin"
	}
	return path
}
