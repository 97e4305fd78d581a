package api

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/gin-gonic/gin"

	"seckill/api/sale"
	"seckill/model"
)

// itemList is a page of items.
type itemList[T any] struct {
	Items      []T           `json:"items"`
	Next       *string       `json:"next"`
	ServerTime model.Instant `json:"server_time"`
}

// orderList is a page of orders.
type orderList[T any] struct {
	Orders     []T           `json:"orders"`
	Next       *string       `json:"next"`
	ServerTime model.Instant `json:"server_time"`
}

func cursor(next string) *string {
	if next == "" {
		return nil
	}
	return &next
}

// respond answers with v in JSON.
func respond(c *gin.Context, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	c.Writer.Header()["Content-Type"] = typeJSON
	c.Status(status)
	write(c, body)
	return nil
}

// ticketSize is enough for the JSON of a ticket without an order.
const ticketSize = 384

// respondTicket answers with a ticket. It is the answer to a click, and avoids reflection.
func respondTicket(c *gin.Context, status int, t sale.TicketView) error {
	body, err := t.AppendJSON(make([]byte, 0, ticketSize))
	if err != nil {
		return fmt.Errorf("encode answer: %w", err)
	}
	c.Writer.Header()["Content-Type"] = typeJSON
	c.Status(status)
	write(c, body)
	return nil
}

// respondItems answers with a page of items.
func respondItems[T any](s *calls, c *gin.Context, page sale.Page[T]) error {
	now, err := s.Desk.Now(c.Request.Context())
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, itemList[T]{page.Rows, cursor(page.Next), now})
}

// respondOrders answers with a page of orders.
func respondOrders[T any](s *calls, c *gin.Context, page sale.Page[T]) error {
	now, err := s.Desk.Now(c.Request.Context())
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, orderList[T]{page.Rows, cursor(page.Next), now})
}

// write sends the body. A client that has hung up is nobody's concern, so the error is kept for the access log only.
func write(c *gin.Context, body []byte) {
	if _, err := c.Writer.Write(body); err != nil {
		_ = c.Error(err)
	}
}
