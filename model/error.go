package model

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// Code tells a machine what went wrong. The HTTP status of each stands in one table in package api.
type Code string

// The codes that outsiders see.
const (
	CodeMalformed       Code = "malformed"
	CodeUnauthenticated Code = "unauthenticated"
	CodeForbidden       Code = "forbidden"
	CodeCrossOrigin     Code = "cross_origin"
	CodeNotFound        Code = "not_found"
	CodeMethod          Code = "method_not_allowed"
	CodeTooLarge        Code = "too_large"
	CodeUnsupportedType Code = "unsupported_type"
	CodeInvalid         Code = "invalid"
	CodeRateLimited     Code = "rate_limited"
	CodeInternal        Code = "internal"
	CodeUnavailable     Code = "unavailable"

	CodeNotStarted     Code = "not_started"
	CodeEnded          Code = "ended"
	CodePaused         Code = "paused"
	CodeSoldOut        Code = "sold_out"
	CodeAlreadyBought  Code = "already_bought"
	CodeQueueFull      Code = "queue_full"
	CodeChanged        Code = "changed"
	CodeSaleStarted    Code = "sale_started"
	CodeStockBelowLive Code = "stock_below_live"
)

// Error is a refusal that a person may see: a code for machines and a sentence for people. Every other error is shown
// as one fixed sentence.
type Error struct {
	Code    Code
	Message string
	// Fields has the reason for each wrong field, with CodeInvalid only.
	Fields map[string]string
	// Order is the buyer's live order, with CodeAlreadyBought only.
	Order *Order
	// Item is the present item, with CodeChanged only.
	Item *Item
}

// Error is the message; with wrong fields also each reason, by name.
func (e *Error) Error() string {
	if len(e.Fields) == 0 {
		return string(e.Code) + ": " + e.Message
	}
	parts := make([]string, 0, len(e.Fields))
	for _, name := range slices.Sorted(maps.Keys(e.Fields)) {
		parts = append(parts, name+": "+e.Fields[name])
	}
	return string(e.Code) + ": " + strings.Join(parts, "; ")
}

// Is reports whether target is an *Error of the same code, so that errors.Is works with the values below.
func (e *Error) Is(target error) bool {
	var t *Error
	return errors.As(target, &t) && t.Code == e.Code
}

// The refusals that carry nothing but their code. Compare with errors.Is.
var (
	ErrNotFound       = &Error{Code: CodeNotFound, Message: "There is no such thing here."}
	ErrNotStarted     = &Error{Code: CodeNotStarted, Message: "The sale has not started yet."}
	ErrEnded          = &Error{Code: CodeEnded, Message: "The sale has ended."}
	ErrPaused         = &Error{Code: CodePaused, Message: "The sale is paused."}
	ErrSoldOut        = &Error{Code: CodeSoldOut, Message: "Sold out."}
	ErrQueueFull      = &Error{Code: CodeQueueFull, Message: "The line is full. Try again in a moment."}
	ErrUnavailable    = &Error{Code: CodeUnavailable, Message: "The sale can not be reached. Try again in a moment."}
	ErrSaleStarted    = &Error{Code: CodeSaleStarted, Message: "The sale has started: price and start are fixed."}
	ErrStockBelowLive = &Error{Code: CodeStockBelowLive, Message: "Stock can not go below the units already ordered."}
)

// AlreadyBought is the refusal of a click by a buyer with a live order.
func AlreadyBought(o Order) *Error {
	return &Error{Code: CodeAlreadyBought, Message: "You have already bought this item.", Order: &o}
}

// Changed is the refusal of an edit of an older version than the present one.
func Changed(i Item) *Error {
	return &Error{Code: CodeChanged, Message: "The item was changed meanwhile.", Item: &i}
}

// Invalid is the refusal of wrong fields.
func Invalid(fields map[string]string) *Error {
	return &Error{Code: CodeInvalid, Message: "Some fields are not right.", Fields: fields}
}
