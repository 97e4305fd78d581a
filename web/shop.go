package web

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"seckill/api"
	"seckill/api/sale"
	"seckill/model"
)

// pageSize is how many rows a page of a list shows.
const pageSize = 50

type itemsView struct {
	view
	Items []sale.ItemView
	// All: the page lists the sales that are over too.
	All  bool
	Next string
}

// showItems is the sales that are not over, what can be bought first; with all in the query every sale there ever was.
func (s *site) showItems(c *gin.Context) error {
	ctx, v := c.Request.Context(), itemsView{view: s.view(c, s.text(c, "items.title"))}
	var err error
	if _, v.All = c.GetQuery("all"); v.All {
		var page sale.Page[sale.ItemView]
		page, err = s.desk.Items(ctx, c.Query("after"), pageSize)
		v.Items, v.Next = page.Rows, page.Next
	} else {
		v.Items, err = s.desk.Current(ctx)
	}
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, "items.html", v)
}

// saleView is an item with what the buyer has of it: the item's page and the ticket's.
type saleView struct {
	view
	Item   sale.ItemView
	Ticket *sale.TicketView
	Order  *sale.OrderView
	// OwnTicket: the page is of this one ticket, not of the item.
	OwnTicket bool
	// Known: the reader is a buyer who can buy.
	Known    bool
	Quantity string
	// Problem is why the last click did nothing; Wrong is the reason of the field quantity.
	Problem, Wrong string
	Now            model.Instant
}

// Status is the ticket's, or won where only the order is known; empty for who has not clicked.
func (v saleView) Status() string {
	switch {
	case v.Ticket != nil:
		return v.Ticket.Status
	case v.Order != nil:
		return model.Won.String()
	}
	return ""
}

// Holding reports whether the buyer has a live order.
func (v saleView) Holding() bool {
	return v.Order != nil && v.Order.Status != model.OrderCancelled
}

// CanBuy reports whether a click would be of use now.
func (v saleView) CanBuy() bool {
	return v.Item.Phase == model.PhaseOpen && v.Known && !v.Holding() && v.Status() != sale.StatusQueued
}

// Says is the key of the sentence about the buyer's place, or about the sale for who has none.
func (v saleView) Says() string {
	switch status := v.Status(); {
	case v.Holding() && status != model.Duplicate.String():
		return "live.won"
	case status == model.Won.String() && v.Order != nil:
		return "live.cancelled"
	case status == sale.StatusQueued && v.Ticket.Ahead == 0:
		return "live.next"
	case status != "":
		return "live." + status
	case !v.Known:
		return "live.unknown_buyer"
	}
	return "live.phase." + string(v.Item.Phase)
}

// Ahead is how many are before the buyer.
func (v saleView) Ahead() int64 {
	if v.Ticket == nil {
		return 0
	}
	return v.Ticket.Ahead
}

// showItem is one sale.
func (s *site) showItem(c *gin.Context) error {
	buyer, err := s.reader(c)
	if err != nil {
		return err
	}
	v, err := s.saleView(c, buyer)
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, "item.html", v)
}

// saleView is the view of the item in the path for a buyer, empty for none.
func (s *site) saleView(c *gin.Context, buyer model.Buyer) (saleView, error) {
	ctx := c.Request.Context()
	id, err := model.ParseID(c.Param("id"))
	if err != nil {
		return saleView{}, err
	}
	item, err := s.desk.Item(ctx, id)
	if err != nil {
		return saleView{}, err
	}
	v := saleView{view: s.view(c, item.Title), Item: item, Known: buyer != "", Quantity: "1"}
	if v.Now, err = s.desk.Now(ctx); err != nil {
		return saleView{}, err
	}
	if buyer != "" {
		if v.Ticket, v.Order, err = s.desk.Standing(ctx, id, buyer); err != nil {
			return saleView{}, err
		}
	}
	v.Reload = itemReload(v)
	return v, nil
}

// itemReload is when a page without scripts has news: at the start of the sale, or while waiting in line.
func itemReload(v saleView) int64 {
	const most = 300
	switch {
	case v.Status() == sale.StatusQueued:
		return 1
	case v.Item.Phase == model.PhaseUpcoming:
		return min(int64(v.Item.StartsAt.Sub(v.Now).Seconds())+1, most)
	}
	return 0
}

// buy is a click without scripts.
func (s *site) buy(c *gin.Context) error {
	buyer, err := s.identity.Give(c)
	if err != nil {
		return err
	}
	if err := readForm(c); err != nil {
		return err
	}
	id, err := model.ParseID(c.Param("id"))
	if err != nil {
		return err
	}
	ticket, err := s.click(c, id, buyer)
	if err != nil {
		return s.refuse(c, buyer, err)
	}
	c.Redirect(http.StatusSeeOther, "/tickets/"+ticket.Ticket)
	return nil
}

func (s *site) click(c *gin.Context, item model.ID, buyer model.Buyer) (sale.TicketView, error) {
	quantity := 1
	if typed := c.PostForm("quantity"); typed != "" {
		n, err := strconv.Atoi(typed)
		if err != nil || n == 0 {
			return sale.TicketView{}, model.Invalid(map[string]string{"quantity": s.text(c, "form.whole_number")})
		}
		quantity = n
	}
	return s.desk.Buy(c.Request.Context(), item, buyer, quantity)
}

// refuse shows the item's page again with why the click did nothing; a buyer with a live order goes to it.
func (s *site) refuse(c *gin.Context, buyer model.Buyer, why error) error {
	var e *model.Error
	if !errors.As(why, &e) || e.Code == model.CodeNotFound {
		return why
	}
	if e.Code == model.CodeAlreadyBought && e.Order != nil {
		c.Redirect(http.StatusSeeOther, "/orders/"+e.Order.No+"?notice=already_bought")
		return nil
	}
	v, err := s.saleView(c, buyer)
	if err != nil {
		return why
	}
	v.Quantity, v.Wrong = c.PostForm("quantity"), v.Reason(e.Fields["quantity"])
	v.Problem = v.T("live.refused." + string(e.Code))
	return s.render(c, api.Status(why), "item.html", v)
}

// showTicket is one place in line, and its verdict.
func (s *site) showTicket(c *gin.Context) error {
	buyer, err := s.identity.Give(c)
	if err != nil {
		return err
	}
	ctx := c.Request.Context()
	ticket, err := s.desk.Ticket(ctx, c.Param("ticket"), buyer)
	if err != nil {
		return err
	}
	item, err := s.desk.Item(ctx, ticket.ItemID)
	if err != nil {
		return err
	}
	v := saleView{view: s.view(c, item.Title), Item: item, Ticket: &ticket, Order: ticket.Order, OwnTicket: true,
		Known: true, Quantity: strconv.Itoa(ticket.Quantity), Now: ticket.ServerTime}
	if ticket.Undecided() {
		v.Reload = 1
	}
	return s.render(c, http.StatusOK, "item.html", v)
}

// read makes a handler of a page that everybody may open: where buyers are guests, whoever opens it becomes one.
func (s *site) read(h handler) handler {
	return func(c *gin.Context) error {
		if _, err := s.reader(c); err != nil {
			return err
		}
		return h(c)
	}
}

// reader is the buyer who reads an open page: where buyers are guests everybody becomes one, elsewhere it is empty for
// whom nobody vouches for.
func (s *site) reader(c *gin.Context) (model.Buyer, error) {
	buyer, err := s.identity.Give(c)
	if errors.Is(err, &model.Error{Code: model.CodeUnauthenticated}) {
		return "", nil
	}
	return buyer, err
}
