package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
)

// assets serves the embedded files below /static/. An address with the right ?v= may be kept for ever; any other is
// asked for again, and answered "not modified" while its content is the same.
type assets struct{ files map[string]asset }

type asset struct {
	content []byte
	hash    string
	mime    string
}

func newAssets(files fs.FS) (*assets, error) {
	a := &assets{files: map[string]asset{}}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		a.files[name] = asset{content, base64.RawURLEncoding.EncodeToString(sum[:9]), mimeType(name)}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read static files: %w", err)
	}
	return a, nil
}

// mimeType does not ask the machine's own tables for the types that matter: they differ, and a script of another type
// does not run.
func mimeType(name string) string {
	switch ext := path.Ext(name); ext {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".md":
		return "text/plain; charset=utf-8"
	default:
		return mime.TypeByExtension(ext)
	}
}

// url is the address of a file, with its hash. An unknown name is an error of the template that asks.
func (a *assets) url(name string) (string, error) {
	file, ok := a.files[name]
	if !ok {
		return "", fmt.Errorf("no static file %q", name)
	}
	return "/static/" + name + "?v=" + file.hash, nil
}

func (a *assets) serve(c *gin.Context) {
	name := strings.TrimPrefix(c.Param("path"), "/")
	file, ok := a.files[name]
	if !ok {
		c.String(http.StatusNotFound, "not found\n")
		return
	}
	h := c.Writer.Header()
	h.Set("Content-Type", file.mime)
	h.Set("ETag", `"`+file.hash+`"`)
	h.Set("Cache-Control", "no-cache")
	if c.Query("v") == file.hash {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeContent(c.Writer, c.Request, name, time.Time{}, bytes.NewReader(file.content))
}

// favicon is for browsers that ask for the old name.
func favicon(c *gin.Context) { c.Redirect(http.StatusMovedPermanently, "/static/logo.svg") }
