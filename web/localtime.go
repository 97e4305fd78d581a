package web

import (
	"strings"
	"time"
	_ "time/tzdata" // the admin's zone has to be known on every machine

	"seckill/model"
)

// localForms are what browsers send for datetime-local; reading takes a fraction after the seconds.
var localForms = [...]string{"2006-01-02T15:04", "2006-01-02T15:04:05"}

// localForm is what the form shows.
const localForm = "2006-01-02T15:04:05"

// loadZone is the time zone of an IANA name. It takes neither the machine's own zone nor an empty name.
func loadZone(name string) (*time.Location, bool) {
	name = strings.TrimSpace(name)
	if name == "" || strings.EqualFold(name, "local") {
		return nil, false
	}
	zone, err := time.LoadLocation(name)
	return zone, err == nil
}

// parseLocal reads a wall clock's time in a zone. One that the clocks skip is refused; of one that they show twice it
// is the first. Empty is no instant. The refusal is the key of a text.
func parseLocal(typed string, zone *time.Location) (at model.Instant, refusal string) {
	typed = strings.TrimSpace(typed)
	if typed == "" {
		return 0, ""
	}
	wall, ok := parseWall(typed)
	if !ok {
		return 0, "form.time"
	}
	// The offsets that hold a day before and after are the only ones that can hold at this time.
	for _, near := range []time.Time{wall.Add(-24 * time.Hour), wall.Add(24 * time.Hour)} {
		_, offset := near.In(zone).Zone()
		t := wall.Add(-time.Duration(offset) * time.Second)
		if _, there := t.In(zone).Zone(); there == offset {
			return model.InstantOf(t), ""
		}
	}
	return 0, "form.time_skipped"
}

// parseWall reads a time as if it were UTC, of a year that people mean.
func parseWall(typed string) (time.Time, bool) {
	for _, form := range localForms {
		if wall, err := time.Parse(form, typed); err == nil {
			return wall, wall.Year() >= 1970 && wall.Year() < 10000
		}
	}
	return time.Time{}, false
}

// writeLocal is the wall clock's time in a zone, to the second; empty for no instant.
func writeLocal(at model.Instant, zone *time.Location) string {
	if at == 0 {
		return ""
	}
	return at.Time().In(zone).Format(localForm)
}
