package model

// Bounds of an item's fields.
const (
	MaxTitle         = 200    // characters
	MaxDescription   = 10_000 // characters
	MaxImageURL      = 2_048  // bytes
	MaxStock         = 10_000_000
	MaxPerBuyer      = 1_000  // units
	MaxPayWithin     = 86_400 // seconds
	DefaultPayWithin = 900    // seconds
)

// Item is a product on sale, as SQL has it. Phase is computed, never stored.
type Item struct {
	ID            ID
	Title         string
	Description   string
	ImageURL      string
	Price         Money
	Stock         int64
	Available     int64
	PerBuyerLimit int
	PayWithin     int // seconds
	StartsAt      Instant
	EndsAt        Instant // none: the sale has no end
	Paused        bool
	ClosedAt      Instant // none: not closed
	Version       int64   // raised by every change of Available or of a gate field, and by every edit
	Epoch         int64   // of the item's queue
	Decided       int64   // highest number decided; never lowered, never reset
	SetAside      int64   // tickets decided as failed
	CreatedAt     Instant
	UpdatedAt     Instant
}

// Phase is what a sale is doing now.
type Phase string

// The phases, in the order in which they are looked for.
const (
	PhaseEnded    Phase = "ended"
	PhaseUpcoming Phase = "upcoming"
	PhasePaused   Phase = "paused"
	PhaseSoldOut  Phase = "sold_out"
	PhaseOpen     Phase = "open"
)

// Gate is the part of an item that decides whether a click may join its queue. The queue keeps a copy, the mirror.
type Gate struct {
	Available int64
	Version   int64
	StartsAt  Instant
	EndsAt    Instant // none: no end
	Paused    bool
	Closed    bool
}

// Gate is the item's gate.
func (i Item) Gate() Gate {
	return Gate{Available: i.Available, Version: i.Version, StartsAt: i.StartsAt, EndsAt: i.EndsAt,
		Paused: i.Paused, Closed: i.ClosedAt != 0}
}

// Phase is the item's phase at now, by the gate's clock.
func (i Item) Phase(now Instant) Phase { return i.Gate().Phase(now) }

// Started reports whether price and start are frozen: the sale has started, by the gate's clock.
func (i Item) Started(now Instant) bool { return now >= i.StartsAt }

// Phase is the first that applies at now: ended (closed, or time over), upcoming, paused, sold out, open.
func (g Gate) Phase(now Instant) Phase {
	switch {
	case g.Closed || g.EndsAt != 0 && now >= g.EndsAt:
		return PhaseEnded
	case now < g.StartsAt:
		return PhaseUpcoming
	case g.Paused:
		return PhasePaused
	case g.Available <= 0:
		return PhaseSoldOut
	}
	return PhaseOpen
}

// Refuses is the refusal that a click without a ticket gets at now, nil while the item is open. It is the gate's one
// rule: nothing is accepted before the start or from the end on.
func (g Gate) Refuses(now Instant) error {
	switch g.Phase(now) {
	case PhaseEnded:
		return ErrEnded
	case PhaseUpcoming:
		return ErrNotStarted
	case PhasePaused:
		return ErrPaused
	case PhaseSoldOut:
		return ErrSoldOut
	}
	return nil
}
