package web

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"seckill/api/sale"
)

type ordersView struct {
	view
	Orders []sale.OrderView
	Next   string
}

// showOrders is the buyer's orders, newest first.
func (s *site) showOrders(c *gin.Context) error {
	buyer, err := s.identity.Give(c)
	if err != nil {
		return err
	}
	page, err := s.desk.Orders(c.Request.Context(), buyer, 0, c.Query("after"), pageSize)
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, "orders.html",
		ordersView{view: s.view(c, s.text(c, "orders.title")), Orders: page.Rows, Next: page.Next})
}

type orderView struct {
	view
	Order sale.OrderView
}

// showOrder is one order of the buyer.
func (s *site) showOrder(c *gin.Context) error {
	buyer, err := s.identity.Give(c)
	if err != nil {
		return err
	}
	order, err := s.desk.Order(c.Request.Context(), buyer, c.Param("no"))
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, "order.html",
		orderView{view: s.view(c, s.text(c, "order.title", "No", order.No)), Order: order})
}
