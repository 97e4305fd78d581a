package web

import (
	"testing"
	"time"
)

func TestParseLocal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ typed, zone, want, refusal string }{
		{"2026-01-02T15:04", "UTC", "2026-01-02T15:04:00.000Z", ""},
		{"2026-01-02T15:04:05", "Asia/Shanghai", "2026-01-02T07:04:05.000Z", ""},
		{"2026-01-02T15:04:05.678", "Asia/Kolkata", "2026-01-02T09:34:05.678Z", ""},
		{"2026-03-29T02:30", "Europe/Berlin", "", "form.time_skipped"},
		{"2026-03-29T03:00", "Europe/Berlin", "2026-03-29T01:00:00.000Z", ""},
		{"2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30:00.000Z", ""}, // shown twice: the first
		{"2026-03-08T02:00", "America/New_York", "", "form.time_skipped"},
		{"2011-12-30T12:00", "Pacific/Apia", "", "form.time_skipped"}, // a whole day
		{"2026-10-04T02:15", "Australia/Lord_Howe", "", "form.time_skipped"},
		{"2026-10-04T02:30", "Australia/Lord_Howe", "2026-10-03T15:30:00.000Z", ""},
		{"", "UTC", "", ""},
		{"tomorrow", "UTC", "", "form.time"},
		{"2026-02-30T10:00", "UTC", "", "form.time"},
		{"2026-01-02 15:04", "UTC", "", "form.time"},
		{"0001-01-01T00:00", "UTC", "", "form.time"},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		if at, refusal := parseLocal(c.typed, zone); at.String() != c.want || refusal != c.refusal {
			t.Errorf("parseLocal(%q, %s) = %s, %q; want %s, %q", c.typed, c.zone, at, refusal, c.want, c.refusal)
		}
	}
}

func TestLoadZone(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"UTC": true, "Asia/Shanghai": true, " Europe/Berlin ": true,
		"": false, "Local": false, "local": false, "Mars/Base": false, "../etc/passwd": false, "+08:00": false} {
		if _, ok := loadZone(name); ok != want {
			t.Errorf("loadZone(%q) = %t, want %t", name, ok, want)
		}
	}
}
