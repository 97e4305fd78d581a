package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// errHelped is returned when the arguments asked for help, and got it.
var errHelped = errors.New("helped")

// cli is the command line as it was given. Values stay texts, so that every wrong one can be told at once.
type cli struct {
	Data     string `default:"./data" placeholder:"DIR" help:"Directory of the SQLite file and of made secrets, not used with MySQL. One process at a time; default: ${default}."`
	Database string `secret:"" placeholder:"URL" help:"The database, sqlite://PATH or mysql://USER:PASS@HOST:PORT/NAME; default: seckill.db in the data directory."`

	Serve   serveFlags `cmd:"" default:"withargs" help:"Run the sale (the default command)."`
	Audit   auditFlags `cmd:"" help:"Hold the promises against the database; exit code 0: all hold, 1: a breach, 2: could not look."`
	User    userFlags  `cmd:"" help:"Accounts that can log in."`
	Migrate struct{}   `cmd:"" help:"Bring the database's tables up to date."`
	Version struct{}   `cmd:"" help:"Print the version."`

	command string        // the command's name and arguments, as "user add <name>"
	wrong   wrongSettings // what the environment has wrong
}

type serveFlags struct {
	Redis          string `secret:"" placeholder:"URL" help:"The queue on Redis, redis://:PASS@HOST:PORT/DB; default: the local queue, in this process."`
	Role           string `default:"all" placeholder:"ROLE" help:"What this process does: all, web (answers browsers) or worker (sells); the latter two with --redis and MySQL; default: ${default}."`
	Listen         string `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to listen on; port 0 takes a free one; default: ${default}."`
	BaseURL        string `name:"base-url" placeholder:"URL" help:"Where browsers reach the program, as https://shop.example; default: from the address."`
	Buyers         string `default:"guest" placeholder:"MODE" help:"Who a buyer is: guest (a signed cookie) or header (X-Buyer-ID from a trusted proxy); default: ${default}."`
	TrustedProxies string `placeholder:"CIDR,..." help:"Peers whose headers are believed."`
	Secret         string `secret:"" placeholder:"NEW,OLD" help:"Signs cookies and tickets, at least 32 bytes; default: made in the data directory; required with --redis."`
	AdminToken     string `secret:"" placeholder:"TOKEN" help:"Bearer token of the admin API, at least 16 characters; default: none, bearer off."`
	AdminPassword  string `secret:"" placeholder:"PASSWORD" help:"Of the user admin, who is made while there is no user; default: made and printed once."`
	Demo           toggle `help:"Put a demo item on sale if there is no item; default: when the SQLite file is new."`
	QueueLimit     string `default:"2000000" placeholder:"N" help:"Undecided tickets an item may have; default: ${default}."`
	MaxSockets     string `placeholder:"N" help:"Open sockets; default: the limit of file descriptors less 1000."`
}

type auditFlags struct {
	JSON bool `name:"json" help:"Print JSON."`
}

type userFlags struct {
	Add    userName `cmd:"" help:"Add an admin; the password is read from standard input."`
	Passwd userName `cmd:"" help:"Change a password, read from standard input, and end the user's sessions."`
	List   struct{} `cmd:"" help:"List the users."`
}

type userName struct {
	Name string `arg:"" help:"The user's name."`
}

// toggle is a flag that may stand alone or have a value: empty if it was not given.
type toggle string

// IsBool lets the flag stand alone.
func (*toggle) IsBool() bool { return true }

// Decode takes any value: settings judges it.
func (t *toggle) Decode(ctx *kong.DecodeContext) error {
	*t = "true"
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		*t = toggle(fmt.Sprint(ctx.Scan.Pop().Value))
	}
	return nil
}

// parse reads the arguments, and the environment for the flags that they do not give. Unknown flags, and what the
// environment has wrong, are in the result, so that they are told together with the wrong values. An error is errHelped,
// or an argument that can not be read at all.
func (p program) parse(args []string) (cli, error) {
	var unknown wrongSettings
	for {
		c, err := p.parseOnce(args)
		if err == nil {
			c.wrong = append(unknown, c.wrong...)
			return c, nil
		}
		rest, line := withoutUnknown(args, err)
		if line == "" {
			return cli{}, err
		}
		args, unknown = rest, append(unknown, line)
	}
}

func (p program) parseOnce(args []string) (cli, error) {
	var c cli
	helped := false
	parser, err := kong.New(&c, kong.Name("seckill"), kong.Description("Runs flash sales. --x-y is also SECKILL_X_Y in the "+
		"environment, and for secrets SECKILL_X_Y_FILE, a file that holds it; a flag goes before the environment."),
		kong.Writers(p.stdout, p.stderr), kong.Exit(func(int) { helped = true }),
		kong.Resolvers(kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, f *kong.Flag) (any, error) {
			return p.fromEnvironment(f, &c.wrong), nil
		})))
	if err != nil {
		return cli{}, fmt.Errorf("command line: %w", err)
	}
	parsed, err := parser.Parse(args)
	switch {
	case helped:
		return cli{}, errHelped
	case err != nil:
		return cli{}, wrongSettings{err.Error()}
	}
	c.command = parsed.Command()
	return c, nil
}

var unknownFlag = regexp.MustCompile(`^unknown flag (--?([^\s,=]+))(.*)`)

// withoutUnknown takes the flag out of args that err calls unknown, with its value, and returns the line that says so;
// no line if err is about something else.
func withoutUnknown(args []string, err error) (rest []string, line string) {
	m := unknownFlag.FindStringSubmatch(err.Error())
	if m == nil {
		return args, ""
	}
	at := slices.IndexFunc(args, func(arg string) bool { return arg == m[1] || strings.HasPrefix(arg, m[1]+"=") })
	if at < 0 {
		return args, ""
	}
	end := at + 1
	if args[at] == m[1] && end < len(args) && !strings.HasPrefix(args[end], "-") {
		end++
	}
	return slices.Delete(slices.Clone(args), at, end), m[1] + ": unknown flag" + m[3]
}

// fromEnvironment is what the environment says of a flag: a text, or nil. An empty variable is none.
func (p program) fromEnvironment(f *kong.Flag, wrong *wrongSettings) any {
	if f.Name == "help" {
		return nil
	}
	name := "SECKILL_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
	value, _ := p.environ(name)
	if !f.Tag.Has("secret") {
		return textOrNil(value)
	}
	path, _ := p.environ(name + "_FILE")
	switch {
	case path == "":
		return textOrNil(value)
	case value != "":
		wrong.add(f.Name, "%s and %s_FILE are both set", name, name)
		return nil
	}
	held, err := os.ReadFile(path)
	if err != nil {
		wrong.add(f.Name, "%s_FILE: %v", name, err)
		return nil
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(held), "\n"), "\r")
}

func textOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}
