package api

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"

	"seckill/api/sale"
	"seckill/model"
)

// statuses is the one table from codes to HTTP status.
var statuses = map[model.Code]int{
	model.CodeMalformed:       http.StatusBadRequest,
	model.CodeUnauthenticated: http.StatusUnauthorized,
	model.CodeForbidden:       http.StatusForbidden,
	model.CodeCrossOrigin:     http.StatusForbidden,
	model.CodeNotFound:        http.StatusNotFound,
	model.CodeMethod:          http.StatusMethodNotAllowed,
	model.CodeTooLarge:        http.StatusRequestEntityTooLarge,
	model.CodeUnsupportedType: http.StatusUnsupportedMediaType,
	model.CodeInvalid:         http.StatusUnprocessableEntity,
	model.CodeRateLimited:     http.StatusTooManyRequests,
	model.CodeInternal:        http.StatusInternalServerError,
	model.CodeUnavailable:     http.StatusServiceUnavailable,

	model.CodeNotStarted:     http.StatusConflict,
	model.CodeEnded:          http.StatusConflict,
	model.CodePaused:         http.StatusConflict,
	model.CodeSoldOut:        http.StatusConflict,
	model.CodeAlreadyBought:  http.StatusConflict,
	model.CodeQueueFull:      http.StatusServiceUnavailable,
	model.CodeChanged:        http.StatusConflict,
	model.CodeSaleStarted:    http.StatusConflict,
	model.CodeStockBelowLive: http.StatusConflict,
}

// problem is an error in the form of RFC 9457.
type problem struct {
	Type      string              `json:"type"`
	Title     string              `json:"title"`
	Status    int                 `json:"status"`
	Code      model.Code          `json:"code"`
	Detail    string              `json:"detail"`
	RequestID string              `json:"request_id"`
	Errors    map[string]string   `json:"errors,omitempty"`
	Order     *sale.OrderView     `json:"order,omitempty"`
	Item      *sale.AdminItemView `json:"item,omitempty"`
}

// retryAfter is when to try again what is refused for now, in seconds.
var retryAfter = []string{"1"}

// Problem answers with an error in the form of RFC 9457 and ends the request: a *model.Error as it is, anything else
// logged and shown as one fixed sentence with the request id.
func Problem(c *gin.Context, log *slog.Logger, err error) { writeProblem(c, log, err, nil) }

// Status is the HTTP status of an error's code; 500 for an error that is no *model.Error.
func Status(err error) int { return statusOf(refusal(err).Code) }

func statusOf(code model.Code) int {
	if status, ok := statuses[code]; ok {
		return status
	}
	return http.StatusInternalServerError
}

// refusal is the part of an error that a person may see.
func refusal(err error) *model.Error {
	var e *model.Error
	if errors.As(err, &e) {
		return e
	}
	return &model.Error{Code: model.CodeInternal, Message: "Something went wrong here. Quote the request id to report it."}
}

// problem answers with an error, and with the present item where there is one.
func (s *calls) problem(c *gin.Context, err error, item *sale.AdminItemView) {
	writeProblem(c, s.Log, err, item)
}

func writeProblem(c *gin.Context, log *slog.Logger, err error, item *sale.AdminItemView) {
	e := refusal(err)
	p := problem{Type: "about:blank", Status: statusOf(e.Code), Code: e.Code, Detail: e.Message,
		RequestID: GetRequestID(c), Errors: e.Fields, Item: item}
	p.Title = http.StatusText(p.Status)
	if e.Order != nil {
		order := sale.ViewOrder(*e.Order)
		p.Order = &order
	}
	if p.Status == http.StatusInternalServerError {
		log.Error("request failed", "request_id", p.RequestID, "path", c.FullPath(), "error", err)
	}
	c.Abort()
	h := c.Writer.Header()
	h["Content-Type"], h["Cache-Control"] = typeProblem, noStore
	if p.Status == http.StatusTooManyRequests || p.Status == http.StatusServiceUnavailable {
		h["Retry-After"] = retryAfter
	}
	body, err := json.Marshal(p)
	if err != nil {
		log.Error("encode problem", "request_id", p.RequestID, "error", err)
	}
	c.Status(p.Status)
	write(c, body)
}
