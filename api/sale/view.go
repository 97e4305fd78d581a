package sale

import (
	"encoding/json"
	"fmt"
	"strconv"

	"seckill/model"
)

// ItemView is an item as shoppers see it.
type ItemView struct {
	ID            model.ID      `json:"id"`
	Title         string        `json:"title"`
	Description   string        `json:"description"`
	ImageURL      string        `json:"image_url"`
	Price         model.Money   `json:"price"`
	Stock         int64         `json:"stock"`
	Available     int64         `json:"available"`
	PerBuyerLimit int           `json:"per_buyer_limit"`
	StartsAt      model.Instant `json:"starts_at"`
	EndsAt        model.Instant `json:"ends_at"`
	PayWithin     int           `json:"pay_within"`
	Phase         model.Phase   `json:"phase"`
}

// AdminItemView adds what only admins see.
type AdminItemView struct {
	ItemView
	Version   int64         `json:"version"`
	Paused    bool          `json:"paused"`
	ClosedAt  model.Instant `json:"closed_at"`
	Pending   int64         `json:"pending"`
	Paid      int64         `json:"paid"`
	Queued    int64         `json:"queued"`
	SetAside  int64         `json:"set_aside"`
	CreatedAt model.Instant `json:"created_at"`
	UpdatedAt model.Instant `json:"updated_at"`
}

// LedgerView is where an item's units are.
type LedgerView struct {
	Stock     int64 `json:"stock"`
	Available int64 `json:"available"`
	Pending   int64 `json:"pending"`
	Paid      int64 `json:"paid"`
	Queued    int64 `json:"queued"` // tickets
}

// TicketView is a ticket as its buyer sees it. Status is queued, won, sold_out, duplicate, ended, failed or lost.
type TicketView struct {
	Ticket     string        `json:"ticket"`
	ItemID     model.ID      `json:"item_id"`
	Epoch      int64         `json:"epoch"`
	Seq        int64         `json:"seq"`
	Quantity   int           `json:"quantity"`
	Ahead      int64         `json:"ahead"`
	Status     string        `json:"status"`
	Order      *OrderView    `json:"order"`
	ServerTime model.Instant `json:"server_time"`
}

// Undecided reports whether the verdict is still to come.
func (t TicketView) Undecided() bool { return t.Status == StatusQueued }

// Statuses of a ticket beside the verdicts' names.
const (
	StatusQueued = "queued"
	StatusLost   = "lost"
)

// OrderView is an order as its buyer sees it.
type OrderView struct {
	No           string            `json:"no"`
	ItemID       model.ID          `json:"item_id"`
	Title        string            `json:"title"`
	Quantity     int               `json:"quantity"`
	Amount       model.Money       `json:"amount"`
	Status       model.OrderStatus `json:"status"`
	CreatedAt    model.Instant     `json:"created_at"`
	ExpiresAt    model.Instant     `json:"expires_at"`
	PaidAt       model.Instant     `json:"paid_at"`
	CancelledAt  model.Instant     `json:"cancelled_at"`
	CancelReason *string           `json:"cancel_reason"`
	Refund       *string           `json:"refund"`
}

// AdminOrderView adds the buyer.
type AdminOrderView struct {
	OrderView
	Buyer model.Buyer `json:"buyer"`
}

// Page is one page of a list.
type Page[T any] struct {
	Rows []T
	Next string // empty at the end
}

// ViewItem shows an item at now.
func ViewItem(i model.Item, now model.Instant) ItemView {
	return ItemView{ID: i.ID, Title: i.Title, Description: i.Description, ImageURL: i.ImageURL, Price: i.Price,
		Stock: i.Stock, Available: i.Available, PerBuyerLimit: i.PerBuyerLimit, StartsAt: i.StartsAt, EndsAt: i.EndsAt,
		PayWithin: i.PayWithin, Phase: i.Phase(now)}
}

// ViewOrder shows an order.
func ViewOrder(o model.Order) OrderView {
	return OrderView{No: o.No, ItemID: o.Item, Title: o.Title, Quantity: o.Quantity, Amount: o.Amount, Status: o.Status,
		CreatedAt: o.CreatedAt, ExpiresAt: o.ExpiresAt, PaidAt: o.PaidAt, CancelledAt: o.CancelledAt,
		CancelReason: orNull(o.CancelReason), Refund: orNull(o.Refund)}
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// AppendJSON appends the view's JSON to b, byte for byte what encoding/json writes: the answer to a click, without
// reflection.
func (t TicketView) AppendJSON(b []byte) ([]byte, error) {
	b = append(b, `{"ticket":"`...)
	b = append(b, t.Ticket...)
	b = append(b, `","item_id":"`...)
	b = strconv.AppendInt(b, int64(t.ItemID), 10)
	b = append(b, `","epoch":`...)
	b = strconv.AppendInt(b, t.Epoch, 10)
	b = append(b, `,"seq":`...)
	b = strconv.AppendInt(b, t.Seq, 10)
	b = append(b, `,"quantity":`...)
	b = strconv.AppendInt(b, int64(t.Quantity), 10)
	b = append(b, `,"ahead":`...)
	b = strconv.AppendInt(b, t.Ahead, 10)
	b = append(b, `,"status":"`...)
	b = append(b, t.Status...)
	b = append(b, `","order":`...)
	if t.Order == nil {
		b = append(b, "null"...)
	} else {
		order, err := json.Marshal(t.Order)
		if err != nil {
			return nil, fmt.Errorf("encode order: %w", err)
		}
		b = append(b, order...)
	}
	b = append(b, `,"server_time":`...)
	b = t.ServerTime.AppendJSON(b)
	return append(b, '}'), nil
}
