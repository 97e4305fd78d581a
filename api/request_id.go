package api

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"

	"github.com/gin-gonic/gin"
)

// idHeader is X-Request-ID in Go's spelling.
const idHeader = "X-Request-Id"

// maxRequestID is the longest id that is taken from a request.
const maxRequestID = 64

// RequestID is a middleware that gives each request an id, in the X-Request-ID of the answer and for the logs. One that
// the request brings is taken if it has 1 to 64 letters, digits, dots, hyphens and underscores.
func RequestID(c *gin.Context) {
	h := c.Writer.Header()
	if h[idHeader] != nil {
		return
	}
	if sent := c.Request.Header[idHeader]; len(sent) == 1 && plainID(sent[0]) {
		h[idHeader] = []string{sent[0]}
		return
	}
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], rand.Uint64())
	h[idHeader] = []string{hex.EncodeToString(b[:])}
}

// GetRequestID is the id that RequestID gave.
func GetRequestID(c *gin.Context) string { return c.Writer.Header().Get(idHeader) }

func plainID(s string) bool {
	for n := range len(s) {
		b := s[n]
		plain := b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '.' || b == '_' || b == '-'
		if !plain {
			return false
		}
	}
	return s != "" && len(s) <= maxRequestID
}
