package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"

	"github.com/pressly/goose/v3"
	"gorm.io/gorm"
)

//go:embed migrations
var migrations embed.FS

// dialect is where the databases differ; every other statement is one that all of them take.
type dialect struct {
	// now is the statement that reads the database's clock, in Unix milliseconds whatever its time zone.
	now string
	// journal reports whether the local queue may keep its journal here.
	journal bool
	// migrations is the directory of the migrations. Those of the databases have the same numbers.
	migrations string
	goose      goose.Dialect
	// together lets several processes migrate at once: through connections of its own, closed afterwards, with a lock.
	// Nil where only one process has the database.
	together func(ctx context.Context) (*sql.DB, goose.ProviderOption, error)

	// thrownBack reports whether SQL gave a transaction back unharmed, also at COMMIT: it did not happen and may be run
	// again.
	thrownBack func(error) bool
	// lost reports whether the connection broke. Unless that was at COMMIT, the transaction did not happen.
	lost func(error) bool
	// refused reports whether SQL looked at a row and did not take it: a constraint or a trigger, not an outage.
	refused func(error) bool
}

// undone reports whether a transaction that failed with err has certainly not happened, through no fault of its own.
func (d *dialect) undone(err error) bool {
	return d.thrownBack(err) || d.lost(err) && !errors.As(err, new(commitError))
}

// translatedRefusal is the part of refused that gorm's drivers know.
func translatedRefusal(err error) bool {
	for _, translated := range []error{gorm.ErrDuplicatedKey, gorm.ErrForeignKeyViolated, gorm.ErrCheckConstraintViolated} {
		if errors.Is(err, translated) {
			return true
		}
	}
	return false
}
