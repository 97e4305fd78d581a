package ws

import (
	"encoding/json"

	"github.com/gorilla/websocket"

	"seckill/api/sale"
	"seckill/model"
	"seckill/model/queue"
)

// frame is a message in its wire form, encoded once for all its receivers.
type frame = *websocket.PreparedMessage

// position orders an item's tickets over all epochs of its queue.
type position struct{ epoch, seq int64 }

func (p position) before(q position) bool {
	return p.epoch < q.epoch || p.epoch == q.epoch && p.seq < q.seq
}

func positionOf(t model.Ticket) position { return position{t.Epoch, t.Seq} }

func viewPosition(t sale.TicketView) position { return position{t.Epoch, t.Seq} }

func servedOf(p queue.Progress) position { return position{p.Epoch, p.Served} }

// state is what a page needs to start.
type state struct {
	readAt   model.Instant // the gate's clock before anything was read
	progress queue.Progress
	item     sale.ItemView
	ticket   *sale.TicketView
	order    *sale.OrderView
	now      model.Instant
}

// told is the position up to which this state has told the buyer everything.
func (st state) told() position {
	switch {
	case st.ticket == nil:
		return position{}
	case st.ticket.Undecided():
		return position{st.ticket.Epoch, st.ticket.Seq - 1}
	}
	return viewPosition(*st.ticket)
}

func (st state) frame() frame {
	return encode(struct {
		Type       string           `json:"type"`
		Item       sale.ItemView    `json:"item"`
		Ticket     *sale.TicketView `json:"ticket"`
		Order      *sale.OrderView  `json:"order"`
		Epoch      int64            `json:"epoch"`
		Served     int64            `json:"served"`
		Queued     int64            `json:"queued"`
		ServerTime model.Instant    `json:"server_time"`
	}{"state", st.item, st.ticket, st.order, st.progress.Epoch, st.progress.Served, st.progress.Queued, st.now})
}

func progressFrame(p queue.Progress) frame {
	return encode(struct {
		Type      string   `json:"type"`
		ItemID    model.ID `json:"item_id"`
		Epoch     int64    `json:"epoch"`
		Served    int64    `json:"served"`
		Queued    int64    `json:"queued"`
		Available int64    `json:"available"`
	}{"progress", p.Item, p.Epoch, p.Served, p.Queued, p.Available})
}

func itemFrame(item sale.ItemView) frame {
	return encode(struct {
		Type string        `json:"type"`
		Item sale.ItemView `json:"item"`
	}{"item", item})
}

func verdictFrame(t sale.TicketView) frame {
	return encode(struct {
		Type   string          `json:"type"`
		Ticket sale.TicketView `json:"ticket"`
	}{"verdict", t})
}

// encode makes a text frame of v, which has a JSON form: neither step can fail for the messages above.
func encode(v any) frame {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	f, err := websocket.NewPreparedMessage(websocket.TextMessage, b)
	if err != nil {
		panic(err)
	}
	return f
}
