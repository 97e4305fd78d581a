package api

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// healthz says that the process runs.
func (s *calls) healthz(c *gin.Context) error {
	c.String(http.StatusOK, "ok")
	return nil
}

// readyz says whether the process can serve. What is wrong stands in the log, not here.
func (s *calls) readyz(c *gin.Context) error {
	status, checks := http.StatusOK, map[string]bool{}
	for name, err := range s.Ready(c.Request.Context()) {
		checks[name] = err == nil
		if err != nil {
			status = http.StatusServiceUnavailable
			c.Writer.Header()["Retry-After"] = retryAfter
		}
	}
	return respond(c, status, struct {
		Ready  bool            `json:"ready"`
		Checks map[string]bool `json:"checks"`
	}{status == http.StatusOK, checks})
}

func (s *calls) metrics(c *gin.Context) error {
	s.Metrics.ServeHTTP(c.Writer, c.Request)
	return nil
}
