package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/bojanz/currency"
	"github.com/gin-gonic/gin"

	"seckill/api"
	"seckill/api/sale"
	"seckill/model"
	"seckill/model/store"
)

type dashboardView struct {
	view
	Items []sale.AdminItemView
	Next  string
	After string
}

// showDashboard is every item with its figures.
func (s *site) showDashboard(c *gin.Context) error {
	after := c.Query("after")
	page, err := s.desk.AdminItems(c.Request.Context(), after, pageSize)
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, "admin.html",
		dashboardView{view: s.view(c, s.text(c, "admin.title")), Items: page.Rows, Next: page.Next, After: after})
}

// itemFormView is the page of a new item.
type itemFormView struct {
	view
	Form form
	// Problem is what is wrong with the whole.
	Problem    string
	Currencies []string
}

func (s *site) newItemView(c *gin.Context) itemFormView {
	return itemFormView{view: s.view(c, s.text(c, "admin.new_item")), Currencies: currency.GetCurrencyCodes()}
}

func (s *site) showNewItem(c *gin.Context) error {
	v := s.newItemView(c)
	v.Form = form{texts: v.texts, Values: map[string]string{"currency": "CNY", "per_buyer_limit": "1",
		"pay_within": strconv.Itoa(model.DefaultPayWithin), "time_zone": "UTC"}}
	return s.render(c, http.StatusOK, "new.html", v)
}

// publish puts an item on sale, or shows the form again with every reason.
func (s *site) publish(c *gin.Context) error {
	if err := readForm(c); err != nil {
		return err
	}
	now, err := s.desk.Now(c.Request.Context())
	if err != nil {
		return err
	}
	v := s.newItemView(c)
	v.Form = typedForm(c, v.texts, itemFields[:]...)
	draft := v.Form.draft(nil)
	v.Form.check(draft, nil, now)
	if len(v.Form.Errors) > 0 {
		v.Problem = v.T("form.wrong")
		return s.render(c, http.StatusUnprocessableEntity, "new.html", v)
	}
	item, err := s.desk.Publish(c.Request.Context(), draft)
	if err != nil {
		if v.Problem = s.problem(c, err); v.Problem == "" {
			return err
		}
		v.Form.refuse(fieldsOf(err))
		return s.render(c, api.Status(err), "new.html", v)
	}
	c.Redirect(http.StatusSeeOther, "/admin/items/"+item.ID.String()+"?notice=published")
	return nil
}

// problem is the text for a refusal that is shown above a form; empty for an error that has its own page.
func (s *site) problem(c *gin.Context, err error) string {
	var e *model.Error
	if !errors.As(err, &e) {
		return ""
	}
	switch e.Code {
	case model.CodeInvalid:
		return s.text(c, "form.wrong")
	case model.CodeChanged, model.CodeSaleStarted, model.CodeStockBelowLive, model.CodeEnded, model.CodeUnavailable:
		return s.text(c, "form.problem."+string(e.Code))
	}
	return ""
}

func fieldsOf(err error) map[string]string {
	var e *model.Error
	if errors.As(err, &e) {
		return e.Fields
	}
	return nil
}

// itemAdminView is the page of an item for admins: its figures, its form, its stock, its orders.
type itemAdminView struct {
	itemFormView
	Item   sale.AdminItemView
	Stock  form
	Orders []sale.AdminOrderView
	Over   bool // closed, or time over: nothing to pause
}

// itemAdminView reads the item of the path, with the form as the item is.
func (s *site) itemAdminView(c *gin.Context) (itemAdminView, error) {
	ctx := c.Request.Context()
	id, err := model.ParseID(c.Param("id"))
	if err != nil {
		return itemAdminView{}, err
	}
	item, err := s.desk.AdminItem(ctx, id)
	if err != nil {
		return itemAdminView{}, err
	}
	orders, err := s.desk.AdminOrders(ctx, store.OrderFilter{Item: id}, "", 20)
	if err != nil {
		return itemAdminView{}, err
	}
	now, err := s.desk.Now(ctx)
	if err != nil {
		return itemAdminView{}, err
	}
	v := itemAdminView{Item: item, Orders: orders.Rows, Over: item.Phase == model.PhaseEnded}
	v.view, v.Currencies = s.view(c, item.Title), currency.GetCurrencyCodes()
	v.Stock = form{texts: v.texts}
	v.Form = itemForm(v.texts, item, time.UTC)
	v.Form.Fixed = fixedFields(item, now)
	return v, nil
}

// fixedFields are what a started sale can not change.
func fixedFields(item sale.AdminItemView, now model.Instant) map[string]bool {
	if now < item.StartsAt {
		return nil
	}
	return map[string]bool{"price": true, "currency": true, "starts_at": true}
}

func (s *site) showEditItem(c *gin.Context) error {
	v, err := s.itemAdminView(c)
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, "edit.html", v)
}

// edit changes an item, or shows the form again: with every reason, or with what somebody else has made of it.
func (s *site) edit(c *gin.Context) error {
	if err := readForm(c); err != nil {
		return err
	}
	v, err := s.itemAdminView(c)
	if err != nil {
		return err
	}
	fixed := v.Form.Fixed
	v.Form = typedForm(c, v.texts, append(itemFields[:], "version")...)
	v.Form.Fixed = fixed
	draft := v.Form.draft(&v.Item)
	v.Form.check(draft, &v.Item, 0)
	if len(v.Form.Errors) > 0 {
		v.Problem = v.T("form.wrong")
		return s.render(c, http.StatusUnprocessableEntity, "edit.html", v)
	}
	version, err := strconv.ParseInt(v.Form.Values["version"], 10, 64)
	if err != nil {
		version = 0 // no item has it: answered as changed
	}
	_, err = s.desk.Edit(c.Request.Context(), v.Item.ID, version, draft)
	v.Form.refuse(fieldsOf(err))
	if errors.Is(err, &model.Error{Code: model.CodeChanged}) {
		if v.Item, err = s.desk.AdminItem(c.Request.Context(), v.Item.ID); err != nil {
			return err
		}
		v.Form.compare(v.Item)
		err = &model.Error{Code: model.CodeChanged}
	}
	return s.edited(c, v, err, "saved")
}

// edited ends a call of the item's page: back to it with a notice, or the page again with the problem.
func (s *site) edited(c *gin.Context, v itemAdminView, err error, notice string) error {
	if err == nil {
		c.Redirect(http.StatusSeeOther, "/admin/items/"+v.Item.ID.String()+"?notice="+notice)
		return nil
	}
	if v.Problem = s.problem(c, err); v.Problem == "" {
		return err
	}
	return s.render(c, api.Status(err), "edit.html", v)
}

// adjustStock adds to the stock, or takes from it.
func (s *site) adjustStock(c *gin.Context) error {
	if err := readForm(c); err != nil {
		return err
	}
	v, err := s.itemAdminView(c)
	if err != nil {
		return err
	}
	v.Stock = typedForm(c, v.texts, "delta", "reason")
	delta := v.Stock.whole("delta")
	if delta == nil {
		if v.Stock.Errors["delta"] == "" {
			v.Stock.Errors["delta"] = v.T("form.required")
		}
		v.Problem = v.T("form.wrong")
		return s.render(c, http.StatusUnprocessableEntity, "edit.html", v)
	}
	_, err = s.desk.AdjustStock(c.Request.Context(), v.Item.ID, *delta, v.Stock.Values["reason"])
	if errors.Is(err, model.ErrStockBelowLive) {
		v.Stock.Errors["delta"] = s.problem(c, err)
	}
	v.Stock.refuse(fieldsOf(err))
	return s.edited(c, v, err, "stock_changed")
}

// control makes a handler of pause, resume or close.
func (s *site) control(do func(context.Context, model.ID) (sale.AdminItemView, error), notice string) handler {
	return func(c *gin.Context) error {
		v, err := s.itemAdminView(c)
		if err != nil {
			return err
		}
		_, err = do(c.Request.Context(), v.Item.ID)
		return s.edited(c, v, err, notice)
	}
}
