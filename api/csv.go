package api

import (
	"encoding/csv"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"seckill/api/sale"
)

// csvHead names the columns of the orders' export.
var csvHead = []string{"no", "item_id", "title", "quantity", "amount", "currency", "status", "created_at", "expires_at",
	"paid_at", "cancelled_at", "cancel_reason", "refund", "buyer"}

// byteOrderMark tells spreadsheets that the file is UTF-8.
const byteOrderMark = "\ufeff"

// ordersCSV exports every chosen order, a row at a time. A failure after the first row cuts the connection, so that
// nobody takes half a file for a whole one.
func (s *calls) ordersCSV(c *gin.Context) error {
	q := newQuery(c)
	filter := q.orders()
	if err := q.err(); err != nil {
		return err
	}
	w := csv.NewWriter(&csvBody{c: c})
	w.UseCRLF = true
	if err := w.Write(csvHead); err != nil {
		return err
	}
	err := s.Desk.EachOrder(c.Request.Context(), filter, func(o sale.AdminOrderView) error { return w.Write(csvRow(o)) })
	if err == nil {
		w.Flush()
		err = w.Error()
	}
	if err != nil && c.Writer.Written() {
		_ = c.Error(err)
		panic(http.ErrAbortHandler)
	}
	return err
}

// csvWriteTime is how long the export waits for its reader to take the next piece.
const csvWriteTime = 30 * time.Second

// csvBody sends the headers with the first bytes, so that a failure before them can still be told.
type csvBody struct {
	c     *gin.Context
	begun bool
}

func (b *csvBody) Write(p []byte) (int, error) {
	if !b.begun {
		b.begun = true
		h := b.c.Writer.Header()
		h.Set("Content-Type", "text/csv; charset=utf-8")
		h.Set("Content-Disposition", `attachment; filename="orders.csv"`)
		if _, err := b.c.Writer.WriteString(byteOrderMark); err != nil {
			return 0, err
		}
	}
	// A long file may take longer than the server's limit for a whole answer; a reader that stands still may not.
	err := http.NewResponseController(b.c.Writer).SetWriteDeadline(time.Now().Add(csvWriteTime))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return b.c.Writer.Write(p)
}

func csvRow(o sale.AdminOrderView) []string {
	row := []string{o.No, o.ItemID.String(), o.Title, strconv.Itoa(o.Quantity), strconv.FormatInt(o.Amount.Amount, 10),
		o.Amount.Currency, string(o.Status), o.CreatedAt.String(), o.ExpiresAt.String(), o.PaidAt.String(),
		o.CancelledAt.String(), orZero(o.CancelReason), orZero(o.Refund), string(o.Buyer)}
	for n := range row {
		row[n] = defuse(row[n])
	}
	return row
}

// defuse keeps a spreadsheet from running a cell as a formula.
func defuse(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}
