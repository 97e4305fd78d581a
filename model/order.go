package model

// OrderStatus is where an order is in its life.
type OrderStatus string

// An order leaves pending once.
const (
	OrderPending   OrderStatus = "pending"
	OrderPaid      OrderStatus = "paid"
	OrderCancelled OrderStatus = "cancelled"
)

// Order is the SQL row of a ticket that won.
type Order struct {
	ID           ID
	No           string // what people see: a ULID, 26 characters
	Item         ID
	Title        string // of the item when it was bought
	Buyer        Buyer
	Quantity     int
	Amount       Money // for all units
	Status       OrderStatus
	Epoch        int64 // of its ticket
	Seq          int64 // of its ticket
	CreatedAt    Instant
	ExpiresAt    Instant // by the database's clock
	PaidAt       Instant
	CancelledAt  Instant
	CancelReason string // "", "buyer", "admin" or "lapsed"
	Refund       string // "", "due" or "done"
}

// Live reports whether the order holds its units: pending or paid.
func (o Order) Live() bool { return o.Status == OrderPending || o.Status == OrderPaid }

// Ticket is the ticket that won the order.
func (o Order) Ticket() Ticket {
	return Ticket{Item: o.Item, Epoch: o.Epoch, Seq: o.Seq, Quantity: o.Quantity, Buyer: o.Buyer}
}
