package web

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strconv"

	"github.com/gin-gonic/gin"

	"seckill/api"
	"seckill/model"
	"seckill/model/store"
)

// handler answers a page, or says why it does not.
type handler func(c *gin.Context) error

// page makes a gin handler of h: an error becomes a page.
func (s *site) page(h handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		if err := h(c); err != nil {
			s.failPage(c, err)
		}
	}
}

// view is what the layout shows round every page; each page's own view embeds it.
type view struct {
	*texts
	Path   string
	Title  string
	Notice string // what a form before this page has done
	User   string // who is logged in
	Admin  bool
	// Reload is in how many seconds a browser without scripts asks again; 0: never.
	Reload int64
}

// view begins the view of a page with this title.
func (s *site) view(c *gin.Context, title string) view {
	t := s.texts.in(c.GetHeader("Accept-Language"))
	v := view{texts: t, Path: c.Request.URL.Path, Title: title}
	if user, err := s.auth.User(c); err == nil {
		v.User, v.Admin = user.Name, user.Role == store.RoleAdmin
	}
	if key := "notice." + c.Query("notice"); t.has(key) {
		v.Notice = t.T(key)
	}
	return v
}

// text is the text of a key in the request's language.
func (s *site) text(c *gin.Context, key string, pairs ...any) string {
	return s.texts.in(c.GetHeader("Accept-Language")).T(key, pairs...)
}

// parsePages reads the templates: each page with the layout and the parts.
func parsePages(files fs.FS, a *assets) (map[string]*template.Template, error) {
	base, err := template.New("layout.html").Option("missingkey=error").
		Funcs(template.FuncMap{"asset": a.url}).ParseFS(files, "layout.html", "parts.html")
	if err != nil {
		return nil, fmt.Errorf("read the layout: %w", err)
	}
	names, err := fs.Glob(files, "*.html")
	if err != nil {
		return nil, fmt.Errorf("list templates: %w", err)
	}
	pages := map[string]*template.Template{}
	for _, name := range names {
		clone, err := base.Clone()
		if err != nil {
			return nil, fmt.Errorf("copy the layout: %w", err)
		}
		if pages[name], err = clone.ParseFS(files, path.Base(name)); err != nil {
			return nil, fmt.Errorf("read template %s: %w", name, err)
		}
	}
	return pages, nil
}

// render answers a page. What a page shows is the reader's own: nobody else may keep it.
func (s *site) render(c *gin.Context, status int, name string, data any) error {
	var b bytes.Buffer
	if err := s.pages[name].ExecuteTemplate(&b, "layout.html", data); err != nil {
		return fmt.Errorf("render %s: %w", name, err)
	}
	c.Header("Cache-Control", "private, no-cache")
	if status == http.StatusServiceUnavailable {
		c.Header("Retry-After", "1")
	}
	c.Data(status, "text/html; charset=utf-8", b.Bytes())
	return nil
}

// errorView is a page that says what is wrong.
type errorView struct {
	view
	Status    int
	Message   string
	RequestID string
}

// failPage answers an error as a page: a refusal in its own words, anything else as one fixed sentence.
func (s *site) failPage(c *gin.Context, err error) {
	code := codeOf(err)
	if code == model.CodeInternal {
		s.log.ErrorContext(c.Request.Context(), "request failed", "request_id", api.GetRequestID(c), "error", err)
	}
	status := api.Status(err)
	v := errorView{view: s.view(c, s.text(c, "error."+string(code))), Status: status,
		Message: s.text(c, "error."+string(code)+".more"), RequestID: api.GetRequestID(c)}
	if err := s.render(c, status, "error.html", v); err != nil {
		s.log.Error("render the error page", "request_id", v.RequestID, "error", err)
		c.String(http.StatusInternalServerError, strconv.Itoa(status)+"\n")
	}
}

// pageCodes are the codes that the error page has words for, beside internal for any other.
var pageCodes = map[model.Code]bool{model.CodeMalformed: true, model.CodeUnauthenticated: true, model.CodeForbidden: true,
	model.CodeCrossOrigin: true, model.CodeNotFound: true, model.CodeMethod: true, model.CodeTooLarge: true,
	model.CodeUnsupportedType: true, model.CodeInvalid: true, model.CodeUnavailable: true}

func codeOf(err error) model.Code {
	var e *model.Error
	switch {
	case errors.As(err, &e) && pageCodes[e.Code]:
		return e.Code
	case api.Status(err) == http.StatusServiceUnavailable:
		return model.CodeUnavailable
	}
	return model.CodeInternal
}

// readForm reads the body's fields: only the body's, never the address's.
func readForm(c *gin.Context) error {
	if c.Request.ContentLength != 0 && c.ContentType() != gin.MIMEPOSTForm {
		return &model.Error{Code: model.CodeUnsupportedType, Message: "A form must be application/x-www-form-urlencoded."}
	}
	err := c.Request.ParseForm()
	var big *http.MaxBytesError
	switch {
	case errors.As(err, &big):
		return &model.Error{Code: model.CodeTooLarge, Message: "The form is too large."}
	case err != nil:
		return &model.Error{Code: model.CodeMalformed, Message: "The form can not be read."}
	}
	return nil
}
