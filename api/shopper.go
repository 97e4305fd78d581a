package api

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"seckill/api/sale"
	"seckill/model"
)

func (s *calls) items(c *gin.Context) error {
	q := newQuery(c)
	after, limit := q.page()
	if err := q.err(); err != nil {
		return err
	}
	page, err := s.Desk.Items(c.Request.Context(), after, limit)
	if err != nil {
		return err
	}
	return respondItems(s, c, page)
}

func (s *calls) item(c *gin.Context) error {
	id, err := model.ParseID(c.Param("id"))
	if err != nil {
		return err
	}
	item, err := s.Desk.Item(c.Request.Context(), id)
	if err != nil {
		return err
	}
	now, err := s.Desk.Now(c.Request.Context())
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, struct {
		sale.ItemView
		ServerTime model.Instant `json:"server_time"`
	}{item, now})
}

func (s *calls) buy(c *gin.Context) error {
	buyer, err := s.Identity.Give(c)
	if err != nil {
		return err
	}
	quantity, err := bindQuantity(c)
	if err != nil {
		return err
	}
	id, err := model.ParseID(c.Param("id"))
	if err != nil {
		return err
	}
	t, err := s.Desk.Buy(c.Request.Context(), id, buyer, quantity)
	if err != nil {
		return err
	}
	return respondTicket(c, http.StatusAccepted, t)
}

// bindQuantity is how many units a click asks for: one, if it does not say.
func bindQuantity(c *gin.Context) (int, error) {
	if c.Request.ContentLength == 0 {
		return 1, nil
	}
	var n *int64
	wrong, err := bind(c, false, integer("quantity", &n))
	switch {
	case err != nil:
		return 0, err
	case len(wrong) == 0 && n == nil:
		return 1, nil
	case len(wrong) == 0 && *n < 1:
		wrong["quantity"] = "must be at least 1"
	}
	if len(wrong) > 0 {
		return 0, model.Invalid(wrong)
	}
	return int(min(*n, model.MaxPerBuyer+1)), nil // the most is the item's, and the desk knows it
}

func (s *calls) ticket(c *gin.Context) error {
	buyer, err := s.Identity.Buyer(c)
	if err != nil {
		return err
	}
	t, err := s.Desk.Ticket(c.Request.Context(), c.Param("ticket"), buyer)
	if err != nil {
		return err
	}
	return respondTicket(c, http.StatusOK, t)
}

func (s *calls) orders(c *gin.Context) error {
	buyer, err := s.Identity.Buyer(c)
	if err != nil {
		return err
	}
	q := newQuery(c)
	item := q.id("item")
	after, limit := q.page()
	if err := q.err(); err != nil {
		return err
	}
	page, err := s.Desk.Orders(c.Request.Context(), buyer, item, after, limit)
	if err != nil {
		return err
	}
	return respondOrders(s, c, page)
}

func (s *calls) order(c *gin.Context) error {
	buyer, err := s.Identity.Buyer(c)
	if err != nil {
		return err
	}
	o, err := s.Desk.Order(c.Request.Context(), buyer, c.Param("no"))
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, o)
}

// account is the user of a request.
type account struct {
	Name string `json:"name"`
	Role string `json:"role"`
}

func (s *calls) me(c *gin.Context) error {
	buyer, err := s.Identity.Give(c)
	if err != nil {
		return err
	}
	var who *account
	switch user, err := s.Auth.User(c); {
	case err == nil:
		who = &account{user.Name, user.Role}
	case Status(err) != http.StatusUnauthorized:
		return err
	}
	return respond(c, http.StatusOK, struct {
		Buyer model.Buyer `json:"buyer"`
		Mode  string      `json:"mode"`
		User  *account    `json:"user"`
	}{buyer, s.Identity.Mode(), who})
}

// socket serves the item's socket. Who is no buyer hears public messages only.
func (s *calls) socket(c *gin.Context) error {
	q := newQuery(c)
	sent, _ := q.text("item")
	if err := q.err(); err != nil {
		return err
	}
	id, err := model.ParseID(sent)
	if err != nil {
		return err
	}
	if _, err := s.Desk.Item(c.Request.Context(), id); err != nil {
		return err
	}
	buyer, err := s.Identity.Give(c)
	if err != nil && Status(err) != http.StatusUnauthorized {
		return err
	}
	return s.Hub.Serve(c.Writer, c.Request, id, buyer)
}
