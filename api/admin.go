package api

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"seckill/api/sale"
	"seckill/model"
	"seckill/model/store"
)

// draftFields binds what an admin says of an item.
func draftFields(d *model.Draft) []field {
	return []field{
		text("title", &d.Title),
		text("description", &d.Description),
		text("image_url", &d.ImageURL),
		{name: "price", object: []field{integer("amount", &d.Amount), text("currency", &d.Currency)}},
		integer("stock", &d.Stock),
		integer("per_buyer_limit", &d.PerBuyerLimit),
		integer("pay_within", &d.PayWithin),
		instant("starts_at", &d.StartsAt, false),
		instant("ends_at", &d.EndsAt, true),
	}
}

// addReasons adds the reasons of err to those of fields that could not be read: a field that was given but not
// understood is not missing.
func addReasons(wrong map[string]string, err error) error {
	var e *model.Error
	if errors.As(err, &e) {
		for name, reason := range e.Fields {
			outer, _, _ := strings.Cut(name, ".")
			if wrong[name] == "" && wrong[outer] == "" {
				wrong[name] = reason
			}
		}
	}
	return model.Invalid(wrong)
}

func (s *calls) publish(c *gin.Context) error {
	var d model.Draft
	wrong, err := bind(c, true, draftFields(&d)...)
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		now, err := s.Desk.Now(c.Request.Context())
		if err != nil {
			return err
		}
		_, err = d.Item(now, sale.KnownCurrency)
		return addReasons(wrong, err)
	}
	item, err := s.Desk.Publish(c.Request.Context(), d)
	if err != nil {
		return err
	}
	return respond(c, http.StatusCreated, item)
}

func (s *calls) edit(c *gin.Context) error {
	var d model.Draft
	var version *int64
	wrong, err := bind(c, true, append(draftFields(&d), integer("version", &version))...)
	if err != nil {
		return err
	}
	if version == nil && wrong["version"] == "" {
		wrong["version"] = "is required"
	}
	if len(wrong) > 0 {
		// Against no item in particular: only what is wrong by itself is told beside.
		_, err := d.Edit(model.Item{}, 0, sale.KnownCurrency)
		return addReasons(wrong, err)
	}
	id, err := model.ParseID(c.Param("id"))
	if err != nil {
		return err
	}
	item, err := s.Desk.Edit(c.Request.Context(), id, *version, d)
	if errors.Is(err, &model.Error{Code: model.CodeChanged}) {
		return s.changed(c, id, err)
	}
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, item)
}

// changed answers an edit of an old version, with the present item as admins see it.
func (s *calls) changed(c *gin.Context, id model.ID, why error) error {
	item, err := s.Desk.AdminItem(c.Request.Context(), id)
	if err != nil {
		return err
	}
	s.problem(c, why, &item)
	return nil
}

func (s *calls) adminItems(c *gin.Context) error {
	q := newQuery(c)
	after, limit := q.page()
	if err := q.err(); err != nil {
		return err
	}
	page, err := s.Desk.AdminItems(c.Request.Context(), after, limit)
	if err != nil {
		return err
	}
	return respondItems(s, c, page)
}

func (s *calls) adminItem(c *gin.Context) error {
	id, err := model.ParseID(c.Param("id"))
	if err != nil {
		return err
	}
	item, err := s.Desk.AdminItem(c.Request.Context(), id)
	if err != nil {
		return err
	}
	now, err := s.Desk.Now(c.Request.Context())
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, struct {
		sale.AdminItemView
		ServerTime model.Instant `json:"server_time"`
	}{item, now})
}

func (s *calls) adjustStock(c *gin.Context) error {
	var delta *int64
	var reason *string
	wrong, err := bind(c, true, integer("delta", &delta), text("reason", &reason))
	if err != nil {
		return err
	}
	if delta == nil && wrong["delta"] == "" {
		wrong["delta"] = "is required"
	}
	if len(wrong) > 0 {
		return addReasons(wrong, model.Invalid(sale.WrongStock(orZero(delta), orZero(reason))))
	}
	id, err := model.ParseID(c.Param("id"))
	if err != nil {
		return err
	}
	item, err := s.Desk.AdjustStock(c.Request.Context(), id, *delta, orZero(reason))
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, item)
}

func (s *calls) pause(c *gin.Context) error  { return s.turn(c, s.Desk.Pause) }
func (s *calls) resume(c *gin.Context) error { return s.turn(c, s.Desk.Resume) }
func (s *calls) close(c *gin.Context) error  { return s.turn(c, s.Desk.Close) }

// turn pauses, resumes or closes an item. These calls read no field of their bodies.
func (s *calls) turn(c *gin.Context, to func(context.Context, model.ID) (sale.AdminItemView, error)) error {
	if _, err := bind(c, false); err != nil {
		return err
	}
	id, err := model.ParseID(c.Param("id"))
	if err != nil {
		return err
	}
	item, err := to(c.Request.Context(), id)
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, item)
}

func (s *calls) ledger(c *gin.Context) error {
	id, err := model.ParseID(c.Param("id"))
	if err != nil {
		return err
	}
	l, err := s.Desk.Ledger(c.Request.Context(), id)
	if err != nil {
		return err
	}
	return respond(c, http.StatusOK, l)
}

func (s *calls) adminOrders(c *gin.Context) error {
	q := newQuery(c)
	filter := q.orders()
	after, limit := q.page()
	if err := q.err(); err != nil {
		return err
	}
	page, err := s.Desk.AdminOrders(c.Request.Context(), filter, after, limit)
	if err != nil {
		return err
	}
	return respondOrders(s, c, page)
}

func (s *calls) audit(c *gin.Context) error {
	checks, err := s.Desk.Audit(c.Request.Context())
	if err != nil {
		return err
	}
	ok := true
	for _, check := range checks {
		ok = ok && check.OK
	}
	return respond(c, http.StatusOK, struct {
		OK     bool          `json:"ok"`
		Checks []store.Check `json:"checks"`
	}{ok, checks})
}
