// Package queue keeps each item's undecided tickets, oldest first, with the gate that clicks pass and the word that
// gets verdicts out. It has one contract, [Queue], one conformance suite, and the backends that pass it: [Local], in
// memory and journaled in SQL, for one process; [Redis], for any number.
//
// The queue promises order and idempotence, never truth: SQL decides who has won, and the queue may lose everything but
// what SQL has. It never decides, and it never answers "sold out" for an outage.
package queue

import (
	"context"
	"errors"
	"fmt"

	"seckill/model"
)

// DefaultLimit is the most undecided tickets that an item has, unless told otherwise.
const DefaultLimit = 2_000_000

// MaxPeek is the most entries that a batch has.
const MaxPeek = 500

// MaxGroup is the most clicks that go through the gate in one call.
const MaxGroup = 256

// Errors of every backend, beside model.ErrUnavailable for an outage.
var (
	// ErrMissing: the queue does not know the item; it has to be installed.
	ErrMissing = errors.New("queue: item is not installed")
	// ErrEpoch: the queue is in another epoch than the caller; peek anew.
	ErrEpoch = errors.New("queue: another epoch")
	// ErrStale: what the queue has of the item is of another life of its server, and nothing is done with it; it has to
	// be installed.
	ErrStale = errors.New("queue: item is of another life")
)

// unavailable is model.ErrUnavailable with its cause.
func unavailable(item model.ID, what string, err error) error {
	return fmt.Errorf("%w: %s of item %s: %w", model.ErrUnavailable, what, item, err)
}

// Queue is one backend, for all items. Every method is safe for concurrent use and may be repeated.
type Queue interface {
	// Now is the gate's clock: the one by which sales start and end.
	Now(ctx context.Context) (model.Instant, error)

	// Install makes the queue know an item: its epoch, its gate, its numbers from max(decided, highest known) + 1. What
	// the queue still has of the item's undecided tickets is kept. For an item it knows in this epoch it is Mirror.
	// A row of an older epoch than the queue's is ErrEpoch, or no more than Mirror. A backend that may have lost what it
	// knew begins the item's next epoch in SQL; then the row that was given is old. It publishes Changed.
	Install(ctx context.Context, item model.Item) error

	// Mirror brings the copies of the items' gates up to date; a row with a version not above the mirror's is
	// passed over. It publishes Changed for each item whose gate it wrote. An item that is not installed is ErrMissing,
	// after the others have been done.
	Mirror(ctx context.Context, items ...model.Item) error

	// Join passes one click through the gate. Clicks of one item that wait together go as a group of up to MaxGroup;
	// one group of an item is under way at a time, in the order in which Join was called. A buyer who has an undecided
	// ticket gets it again, whatever the gate says and whatever quantity they ask for now. The answer is given when
	// the group is kept safe. When ctx ends first, the click may or may not have joined; asking again tells.
	//
	// Errors: model.ErrEnded, ErrNotStarted, ErrPaused, ErrSoldOut, ErrQueueFull: no mark is left.
	// model.ErrUnavailable (also wrapped): no answer, or too many clicks wait for one already; ErrMissing; ErrStale; that
	// of ctx. A backend of many processes may tell a buyer, whom this process has not met, ErrSoldOut for as long as 200 ms
	// after the gate has said so to another.
	Join(ctx context.Context, item model.ID, click Click) (Answer, error)

	// Unmark forgets that the buyer has this ticket, if it is the one marked and it is decided: the buyer's order is
	// not live any more, and they may join again.
	Unmark(ctx context.Context, t model.Ticket) error

	// Find is the buyer's undecided ticket, else the newest that the queue knows of. None: model.ErrNotFound.
	Find(ctx context.Context, item model.ID, buyer model.Buyer) (Place, error)

	// Look tells where a ticket is. It writes nothing. The caller has checked that the ticket is the buyer's.
	Look(ctx context.Context, t model.Ticket) (Place, error)

	// Peek is the oldest entries of an item, at most most (up to MaxPeek), removing none.
	Peek(ctx context.Context, item model.ID, most int) (Batch, error)

	// Settle takes a decided batch off the head of the queue, remembers and publishes its verdicts, and frees the
	// marks of all but the winners. A batch that does not stand at the head has been settled before: only the mirror
	// is brought up to date. Another epoch: ErrEpoch. It publishes Settled, with the verdicts of the entries that could
	// be read, and Changed if the row shows more than the units that the batch has sold.
	Settle(ctx context.Context, s Settlement) error

	// Progress is how far the items' queues are, in the order asked for; an item that is not installed has a zero Epoch.
	Progress(ctx context.Context, items ...model.ID) ([]Progress, error)

	// Reconcile is for the owner of an item whose mirror is newer than the row that was read before it. If SQL, read after
	// the mirror, is still behind it, SQL has lost commits: that is logged, and the mirror is overwritten. A backend that
	// keeps nothing longer than its process need not do anything.
	Reconcile(ctx context.Context, item model.ID) error

	// Beat says that a worker of this name lives, and tells the names of all that do, rising: those who said so
	// within the last three seconds. Leave says that it does not live any more.
	Beat(ctx context.Context, worker string) ([]string, error)
	Leave(ctx context.Context, worker string) error

	// Subscribe hears of everything published from now on, until ctx ends; then the channel is closed. A reader that
	// is too slow misses messages and then gets one of kind Missed.
	Subscribe(ctx context.Context) <-chan Message

	// Remove forgets all of an item that is over.
	Remove(ctx context.Context, item model.ID) error

	// Close waits for the clicks under way to be answered. Every later call is answered model.ErrUnavailable.
	Close() error
}

// Click is one Buy: the caller has checked the buyer, and the quantity against the item's limit.
type Click struct {
	Buyer    model.Buyer
	Quantity int
}

// Answer is the ticket of a click.
type Answer struct {
	Ticket model.Ticket
	// Ahead is the number of undecided tickets before this one.
	Ahead int64
	// Marked: the buyer's ticket is decided already and was marked as having won. Ask SQL whether the order is live;
	// if not, Unmark and Join again.
	Marked bool
	// At is the gate's clock when the click was looked at.
	At model.Instant
}

// State is where a ticket is.
type State uint8

const (
	// Queued: undecided.
	Queued State = iota + 1
	// Decided: Place.Verdict is its verdict.
	Decided
	// Gone: the queue does not keep this ticket's verdict; SQL has it, or in SQL's present epoch it is lost.
	Gone
	// Unknown: the queue has never given this number, or is itself in doubt; SQL has it, or the caller waits.
	Unknown
)

// Place is where a ticket is.
type Place struct {
	Ticket  model.Ticket
	State   State
	Ahead   int64 // while queued
	Verdict model.Verdict
	// Epoch is the queue's present epoch.
	Epoch int64
}

// Batch is what Peek saw.
type Batch struct {
	Item    model.ID
	Epoch   int64
	Served  int64 // the highest number settled
	Seq     int64 // the highest number given
	Version int64 // of the mirror
	Entries []model.Entry
}

// Settlement is a decided batch.
type Settlement struct {
	Batch Batch
	// Verdicts has one for each entry of the batch.
	Verdicts []model.Verdict
	// Item is the row after the decision.
	Item model.Item
}

// Progress is how far one item's queue is.
type Progress struct {
	Item      model.ID
	Epoch     int64
	Served    int64
	Seq       int64 // the highest number given
	Queued    int64
	Available int64 // by the mirror
	Version   int64 // by the mirror
}

// Kind is what a message is about.
type Kind uint8

const (
	// Woken: an empty queue has its first ticket. For sellers.
	Woken Kind = iota + 1
	// Settled: Message.Told has verdicts, Message.Progress where the queue is now.
	Settled
	// Changed: the item's gate was installed, or has changed.
	Changed
	// Missed: messages were lost on the way; read the state again. Item is zero.
	Missed
)

// Message is one thing published. Messages may be lost and may repeat; they carry news, never truth.
type Message struct {
	Kind     Kind
	Item     model.ID
	Progress Progress
	Told     []Told
}

// Told is a ticket's verdict.
type Told struct {
	Ticket  model.Ticket
	Verdict model.Verdict
}

// Journal is where Local keeps what it has accepted. Package store implements it on SQLite; decisions delete from it
// in their own transaction, because only SQL can do both at once.
type Journal interface {
	// AppendJournal keeps a group of entries with the numbers from, from+1, … in one committed insert; a second group
	// from the same number is refused. An error says nothing of whether the group was kept: load again. It must not
	// keep the slices.
	AppendJournal(ctx context.Context, item model.ID, from int64, entries [][]byte) error
	// LoadJournal is the item's groups, by number. It may have entries that are decided already.
	LoadJournal(ctx context.Context, item model.ID) ([]model.EntryGroup, error)
	// LoadHolders is the orders of the item's buyers that are live.
	LoadHolders(ctx context.Context, item model.ID) ([]model.Order, error)
	// LoadDecisions hands the item's decisions to each, by number.
	LoadDecisions(ctx context.Context, item model.ID, each func(model.Decision) error) error
}
