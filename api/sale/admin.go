package sale

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"seckill/model"
	"seckill/model/queue"
	"seckill/model/store"
)

const (
	// tellFor bounds how long an admin waits for the queue to obey.
	tellFor = 5 * time.Second
	// maxReason is the longest reason of a stock change, in characters.
	maxReason = 200
)

// Publish puts an item on sale: into SQL, then into the queue. When the queue can not be told the item stands all the
// same, the error is model.ErrUnavailable, and the sellers' sweep tells it. Wrong fields: model.Invalid.
func (d *Desk) Publish(ctx context.Context, draft model.Draft) (AdminItemView, error) {
	now, err := d.Now(ctx)
	if err != nil {
		return AdminItemView{}, err
	}
	item, err := draft.Item(now, KnownCurrency)
	if err != nil {
		return AdminItemView{}, err
	}
	item, err = d.store.CreateItem(ctx, item)
	if err != nil {
		return AdminItemView{}, d.shown("create item", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellFor)
	defer cancel()
	if err := d.queue.Install(ctx, item); err != nil {
		return AdminItemView{}, d.shown("install item", err)
	}
	return d.adminView(ctx, item)
}

// AdminItem is one item with what only admins see. None: model.ErrNotFound.
func (d *Desk) AdminItem(ctx context.Context, id model.ID) (AdminItemView, error) {
	item, err := d.store.Item(ctx, id)
	if err != nil {
		return AdminItemView{}, d.shown("read item", err)
	}
	return d.adminView(ctx, item)
}

// AdminItems is a page of items, by starts_at then id.
func (d *Desk) AdminItems(ctx context.Context, after string, limit int) (Page[AdminItemView], error) {
	items, next, err := d.store.Items(ctx, after, limit)
	if err != nil {
		return Page[AdminItemView]{}, d.shown("read items", err)
	}
	rows, err := d.adminViews(ctx, items)
	return Page[AdminItemView]{Rows: rows, Next: next}, err
}

// Edit changes the given fields of the item if version is the present one; see model.Draft.Edit and
// store.EditItem for the errors. As every call below it returns only when the queue obeys, or model.ErrUnavailable.
func (d *Desk) Edit(ctx context.Context, id model.ID, version int64, draft model.Draft) (AdminItemView, error) {
	// Of no item in particular: what is wrong by itself is told before anything is looked up.
	if _, err := draft.Edit(model.Item{}, 0, KnownCurrency); errors.Is(err, model.Invalid(nil)) {
		return AdminItemView{}, err
	}
	item, err := d.store.EditItem(ctx, id, version, func(item model.Item) (model.Item, error) {
		// Read under the row lock: the sale may have started while the edit waited for it.
		now, err := d.Now(ctx)
		if err != nil {
			return model.Item{}, err
		}
		return draft.Edit(item, now, KnownCurrency)
	})
	return d.obeyed(ctx, item, err)
}

// AdjustStock adds delta to the stock. Zero, or beyond ±model.MaxStock: model.Invalid of field delta. A reason of over
// 200 characters: model.Invalid of field reason. See store.AdjustStock for the other errors.
func (d *Desk) AdjustStock(ctx context.Context, id model.ID, delta int64, reason string) (AdminItemView, error) {
	if bad := WrongStock(delta, reason); len(bad) > 0 {
		return AdminItemView{}, model.Invalid(bad)
	}
	item, err := d.store.AdjustStock(ctx, id, delta, reason)
	return d.obeyed(ctx, item, err)
}

// WrongStock is the reason for each wrong field of a stock change, delta and reason.
func WrongStock(delta int64, reason string) map[string]string {
	bad := map[string]string{}
	if delta == 0 || delta < -model.MaxStock || delta > model.MaxStock {
		bad["delta"] = fmt.Sprintf("must be %d to %d, and not 0", -model.MaxStock, model.MaxStock)
	}
	if !utf8.ValidString(reason) || utf8.RuneCountInString(reason) > maxReason {
		bad["reason"] = fmt.Sprintf("must be text of at most %d characters", maxReason)
	}
	return bad
}

// Pause stops new tickets; those in line wait.
func (d *Desk) Pause(ctx context.Context, id model.ID) (AdminItemView, error) {
	return d.setPaused(ctx, id, true)
}

// Resume ends a pause.
func (d *Desk) Resume(ctx context.Context, id model.ID) (AdminItemView, error) {
	return d.setPaused(ctx, id, false)
}

func (d *Desk) setPaused(ctx context.Context, id model.ID, paused bool) (AdminItemView, error) {
	now, err := d.Now(ctx)
	if err != nil {
		return AdminItemView{}, err
	}
	item, err := d.store.SetPaused(ctx, id, paused, now)
	return d.obeyed(ctx, item, err)
}

// Close ends the sale; those in line get "ended".
func (d *Desk) Close(ctx context.Context, id model.ID) (AdminItemView, error) {
	now, err := d.Now(ctx)
	if err != nil {
		return AdminItemView{}, err
	}
	item, err := d.store.CloseItem(ctx, id, now)
	return d.obeyed(ctx, item, err)
}

// obeyed tells the queue of a change that SQL has made, or failed to make. From here on the change stands, also when
// the caller has hung up.
func (d *Desk) obeyed(ctx context.Context, item model.Item, err error) (AdminItemView, error) {
	if err != nil {
		return AdminItemView{}, d.shown("change item", err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tellFor)
	defer cancel()
	d.Forget(item.ID)
	if err := d.tell(ctx, item); err != nil {
		return AdminItemView{}, d.shown("tell the queue", err)
	}
	return d.adminView(ctx, item)
}

func (d *Desk) tell(ctx context.Context, item model.Item) error {
	err := d.queue.Mirror(ctx, item)
	if !errors.Is(err, queue.ErrMissing) {
		return err
	}
	return d.queue.Install(ctx, item)
}

// Ledger is where the item's units are.
func (d *Desk) Ledger(ctx context.Context, id model.ID) (LedgerView, error) {
	ledgers, err := d.store.Ledgers(ctx, id)
	if err != nil {
		return LedgerView{}, d.shown("read ledger", err)
	}
	if len(ledgers) == 0 {
		return LedgerView{}, model.ErrNotFound
	}
	progress, err := d.queue.Progress(ctx, id)
	if err != nil {
		return LedgerView{}, d.shown("read progress", err)
	}
	l := ledgers[0]
	return LedgerView{Stock: l.Stock, Available: l.Available, Pending: l.Pending, Paid: l.Paid, Queued: progress[0].Queued}, nil
}

// AdminOrders is a page of everybody's orders, newest first.
func (d *Desk) AdminOrders(ctx context.Context, f store.OrderFilter, after string, limit int) (Page[AdminOrderView], error) {
	orders, next, err := d.store.Orders(ctx, f, after, limit)
	if err != nil {
		return Page[AdminOrderView]{}, d.shown("read orders", err)
	}
	page := Page[AdminOrderView]{Rows: make([]AdminOrderView, len(orders)), Next: next}
	for n, o := range orders {
		page.Rows[n] = AdminOrderView{OrderView: ViewOrder(o), Buyer: o.Buyer}
	}
	return page, nil
}

// EachOrder hands every chosen order to each, newest first. An error of each is returned wrapped.
func (d *Desk) EachOrder(ctx context.Context, f store.OrderFilter, each func(AdminOrderView) error) error {
	err := d.store.EachOrder(ctx, f, func(o model.Order) error {
		return each(AdminOrderView{OrderView: ViewOrder(o), Buyer: o.Buyer})
	})
	return d.shown("read orders", err)
}

// Audit holds the promises against SQL.
func (d *Desk) Audit(ctx context.Context) ([]store.Check, error) {
	checks, err := d.store.Audit(ctx)
	return checks, d.shown("audit", err)
}

func (d *Desk) adminView(ctx context.Context, item model.Item) (AdminItemView, error) {
	views, err := d.adminViews(ctx, []model.Item{item})
	if err != nil {
		return AdminItemView{}, err
	}
	return views[0], nil
}

// adminViews shows items with their ledgers and queues. Stock and available are the ledger's, so that the four numbers
// of units fit each other.
func (d *Desk) adminViews(ctx context.Context, items []model.Item) ([]AdminItemView, error) {
	if len(items) == 0 {
		return []AdminItemView{}, nil
	}
	ids := make([]model.ID, len(items))
	for n, i := range items {
		ids[n] = i.ID
	}
	ledgers, err := d.store.Ledgers(ctx, ids...)
	if err != nil {
		return nil, d.shown("read ledgers", err)
	}
	progress, err := d.queue.Progress(ctx, ids...)
	if err != nil {
		return nil, d.shown("read progress", err)
	}
	now, err := d.Now(ctx)
	if err != nil {
		return nil, err
	}
	of := make(map[model.ID]store.Ledger, len(ledgers))
	for _, l := range ledgers {
		of[l.Item] = l
	}
	views := make([]AdminItemView, len(items))
	for n, i := range items {
		views[n] = viewAdminItem(i, of[i.ID], progress[n].Queued, now)
	}
	return views, nil
}

func viewAdminItem(i model.Item, l store.Ledger, queued int64, now model.Instant) AdminItemView {
	i.Stock, i.Available = l.Stock, l.Available
	return AdminItemView{ItemView: ViewItem(i, now), Version: i.Version, Paused: i.Paused, ClosedAt: i.ClosedAt,
		Pending: l.Pending, Paid: l.Paid, Queued: queued, SetAside: i.SetAside, CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt}
}
