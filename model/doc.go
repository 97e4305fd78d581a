// Package model has the nouns and the rules of a flash sale, and nothing else: it knows no SQL, no queue, no HTTP,
// and imports the standard library only. Everybody else depends on it; it depends on nobody.
//
// The words, and no others:
//
//	Item      a product on sale: fixed stock, one price, one time window, a limit per buyer
//	Buyer     who clicks Buy; known by an opaque, byte-compared id
//	User      an account that can log in
//	Ticket    a place in an item's queue: item, epoch, number (seq), buyer
//	Entry     a ticket's line in the queue, with the time and the quantity of the click
//	Queue     one item's undecided tickets, oldest first
//	Epoch     one unbroken life of an item's queue; numbers are unique within it
//	Gate      the part of an item that says whether a click may join: stock left, window, pause, close
//	Mirror    the copy of the gate that the queue keeps
//	Mark      what the queue remembers of a buyer: the ticket that is undecided, or that has won
//	Journal   the SQL table in which the local queue keeps what it has accepted
//	Verdict   the one final answer to a ticket
//	Decision  one batch of verdicts, committed in SQL together with its orders
//	Order     the SQL row of a ticket that won
//	Release   units going back on sale
//	Owner     the worker whose seller works an item now
//	Seller    the goroutine that decides one item's tickets
//
// Instants are Unix milliseconds ([Instant]), money is minor units with a currency ([Money]), ids are 63-bit numbers
// that travel as strings ([ID]).
package model
