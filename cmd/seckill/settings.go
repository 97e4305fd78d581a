package main

import (
	"cmp"
	"math"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"seckill/model/store"
)

const (
	leastSecret     = 32 // bytes
	leastToken      = 16 // characters
	mostQueueLimit  = 100_000_000
	mostSockets     = 10_000_000
	keptDescriptors = 1_000 // file descriptors for all but sockets
)

// place is where the data is.
type place struct {
	data     string // directory
	database string // the SQLite file, unless the data is in MySQL
	mysql    string // the address of the MySQL database; empty: SQLite
}

// Roles of a process.
const (
	roleAll    = "all"
	roleWeb    = "web"    // answers browsers
	roleWorker = "worker" // sells
)

// settings is what serve runs with, all of it checked.
type settings struct {
	place
	redis         string // its address; empty: the local queue
	role          string
	listen        string
	baseURL       string // an origin; empty: from the listener
	buyers        string // "guest" or "header"
	trusted       []netip.Prefix
	secrets       [][]byte // the newest first; none: made in the data directory
	adminToken    string   // empty: bearer off
	adminPassword string   // empty: made
	demo          toggle   // "true", "false", or empty: when the database is new
	queueLimit    int
	maxSockets    int
}

// settings checks the command line. The error is every wrong setting, as wrongSettings.
func (c cli) settings() (settings, error) {
	wrong, f := c.wrong, c.Serve
	s := settings{
		place:         c.where(&wrong),
		redis:         wrong.redis("redis", f.Redis),
		role:          wrong.oneOf("role", f.Role, roleAll, roleWeb, roleWorker),
		listen:        wrong.address("listen", f.Listen),
		baseURL:       wrong.origin("base-url", f.BaseURL),
		buyers:        wrong.oneOf("buyers", f.Buyers, "guest", "header"),
		trusted:       wrong.prefixes("trusted-proxies", f.TrustedProxies),
		secrets:       wrong.secrets("secret", f.Secret),
		adminToken:    f.AdminToken,
		adminPassword: f.AdminPassword,
		demo:          wrong.toggle("demo", f.Demo),
		queueLimit:    wrong.number("queue-limit", f.QueueLimit, mostQueueLimit),
		maxSockets:    defaultSockets(),
	}
	if f.MaxSockets != "" {
		s.maxSockets = wrong.number("max-sockets", f.MaxSockets, mostSockets)
	}
	s.shared(&wrong, f)
	if s.buyers == "header" && f.TrustedProxies == "" {
		wrong.add("trusted-proxies", "is required with --buyers header")
	}
	if f.AdminToken != "" && len(f.AdminToken) < leastToken {
		wrong.add("admin-token", "has fewer than %d characters", leastToken)
	}
	return s, wrong.err()
}

// shared checks what several processes on one queue and one database need.
func (s settings) shared(wrong *wrongSettings, f serveFlags) {
	if s.mysql != "" && f.Redis == "" {
		wrong.add("redis", "is required with MySQL: the local queue keeps its journal in SQLite")
	}
	if s.role != "" && s.role != roleAll && (f.Redis == "" || s.mysql == "") {
		wrong.add("role", "%s needs --redis and MySQL: without them the sale is one process", s.role)
	}
	if f.Redis != "" && f.Secret == "" && !wrong.has("secret") {
		wrong.add("secret", "is required with --redis: all processes sign with the same one")
	}
}

// place checks where the data is, for the commands that need no more.
func (c cli) place() (place, error) {
	wrong := c.wrong
	at := c.where(&wrong)
	return at, wrong.err()
}

func (c cli) where(wrong *wrongSettings) place {
	scheme, path, found := strings.Cut(c.Database, "://")
	if scheme == "mysql" && found {
		if err := store.CheckDSN(c.Database); err != nil {
			wrong.add("database", "%v", err)
		}
		return place{data: c.Data, mysql: c.Database}
	}
	if c.Data == "" {
		wrong.add("data", "is empty")
	}
	if c.Database == "" {
		return place{data: c.Data, database: filepath.Join(c.Data, "seckill.db")}
	}
	switch {
	case !found:
		wrong.add("database", "is no URL; want sqlite://PATH or mysql://USER:PASS@HOST:PORT/NAME")
	case scheme != "sqlite":
		wrong.add("database", "%s is not supported; want sqlite://PATH or mysql://USER:PASS@HOST:PORT/NAME", scheme)
	case path == "":
		wrong.add("database", "has no path; want sqlite://PATH")
	}
	return place{data: c.Data, database: path}
}

// dsn is the database as package store takes it.
func (p place) dsn() string {
	if p.mysql != "" {
		return p.mysql
	}
	return "sqlite://" + p.database
}

// defaultSockets is what the limit of file descriptors leaves for sockets.
func defaultSockets() int {
	return int(max(1, min(descriptors()-keptDescriptors, mostSockets)))
}

// address checks HOST:PORT; the host may be empty.
func (w *wrongSettings) address(flag, s string) string {
	_, port, err := net.SplitHostPort(s)
	if err != nil {
		w.add(flag, "%q is not HOST:PORT", s)
		return s
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n > math.MaxUint16 {
		w.add(flag, "port %q is not a number from 0 to 65535", port)
	}
	return s
}

// origin checks an http or https URL without a path, and cuts a slash at its end.
func (w *wrongSettings) origin(flag, s string) string {
	if s == "" {
		return ""
	}
	u, err := url.Parse(s)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", u.User != nil:
		w.add(flag, "is no address of the form https://shop.example")
	case u.Path != "" && u.Path != "/", u.RawQuery != "", u.ForceQuery, strings.Contains(s, "#"):
		w.add(flag, "has more than scheme, host and port")
	default:
		return u.Scheme + "://" + u.Host
	}
	return ""
}

// redis checks redis://[:pass@]host:port/db and shows nothing of it: it may have a password in it.
func (w *wrongSettings) redis(flag, s string) string {
	if s == "" {
		return ""
	}
	u, err := url.Parse(s)
	if err == nil && u.Scheme == "redis" && u.Hostname() != "" && u.RawQuery == "" && !u.ForceQuery && u.Fragment == "" {
		if _, err := strconv.ParseUint(cmp.Or(strings.TrimPrefix(u.Path, "/"), "0"), 10, 16); err == nil {
			return s
		}
	}
	w.add(flag, "is no address of the form redis://:PASS@HOST:PORT/DB")
	return ""
}

func (w *wrongSettings) oneOf(flag, s string, values ...string) string {
	for _, v := range values {
		if s == v {
			return s
		}
	}
	w.add(flag, "%q is none of %s", s, strings.Join(values, ", "))
	return ""
}

// prefixes checks a list of CIDRs.
func (w *wrongSettings) prefixes(flag, s string) []netip.Prefix {
	if s == "" {
		return nil
	}
	var list []netip.Prefix
	for part := range strings.SplitSeq(s, ",") {
		prefix, err := netip.ParsePrefix(strings.TrimSpace(part))
		if err != nil {
			w.add(flag, "%q is no CIDR, like 10.0.0.0/8", part)
			continue
		}
		list = append(list, prefix.Masked())
	}
	return list
}

// secrets checks a list of secrets, the newest first.
func (w *wrongSettings) secrets(flag, s string) [][]byte {
	if s == "" {
		return nil
	}
	var list [][]byte
	for part := range strings.SplitSeq(s, ",") {
		if len(part) < leastSecret {
			w.add(flag, "secret %d has fewer than %d bytes", len(list)+1, leastSecret)
		}
		list = append(list, []byte(part))
	}
	return list
}

func (w *wrongSettings) toggle(flag string, t toggle) toggle {
	switch strings.ToLower(string(t)) {
	case "":
		return ""
	case "true", "1", "yes":
		return "true"
	case "false", "0", "no":
		return "false"
	}
	w.add(flag, "%q is neither true nor false", string(t))
	return ""
}

// number checks a whole number from 1 to most.
func (w *wrongSettings) number(flag, s string, most int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > most {
		w.add(flag, "%q is not a whole number from 1 to %d", s, most)
		return 0
	}
	return n
}
