package tools

import (
	"context"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// required is what the set-up of docker-compose.yml has to be given.
var required = map[string]string{
	"SECKILL_SECRET":         "a secret of a test that is long enough to sign",
	"SECKILL_ADMIN_PASSWORD": "password of a test",
	"REDIS_PASSWORD":         "redisoftest",
	"MARIADB_PASSWORD":       "mariadboftest",
	"MARIADB_ROOT_PASSWORD":  "rootoftest",
}

// loadCompose reads docker-compose.yml as Compose does, with an environment and without .env.
func loadCompose(t *testing.T, env map[string]string) (*types.Project, error) {
	t.Helper()
	var list []string
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	options, err := cli.NewProjectOptions([]string{"../docker-compose.yml"}, cli.WithEnv(list))
	if err != nil {
		t.Fatal(err)
	}
	return options.LoadProject(context.Background())
}

// adminToken is the bearer of the admin API in these tests.
const adminToken = "token of the admin in a test"

// setUp is docker-compose.yml with all that it requires, and a token for the admin API.
func setUp(t *testing.T) *types.Project {
	t.Helper()
	env := maps.Clone(required)
	env["SECKILL_ADMIN_TOKEN"] = adminToken
	project, err := loadCompose(t, env)
	if err != nil {
		t.Fatal(err)
	}
	return project
}

// apps is the names of the services that run the program.
func apps(project *types.Project) []string {
	return slices.DeleteFunc(project.ServiceNames(), func(name string) bool { return project.Services[name].Image != "seckill" })
}

// environment is what a service's processes get.
func environment(service types.ServiceConfig) map[string]string {
	env := map[string]string{}
	for name, value := range service.Environment {
		if value != nil {
			env[name] = *value
		}
	}
	return env
}

func TestComposeRefusesAMissingSecret(t *testing.T) {
	t.Parallel()
	for missing := range required {
		for _, how := range []string{"absent", "empty"} {
			env := maps.Clone(required)
			if env[missing] = ""; how == "absent" {
				delete(env, missing)
			}
			if _, err := loadCompose(t, env); err == nil || !strings.Contains(err.Error(), missing) {
				t.Errorf("%s is %s: %v", missing, how, err)
			}
		}
	}
	for name, value := range required {
		if strings.Contains(read(t, "../docker-compose.yml"), value) {
			t.Errorf("the value of %s is in the file", name)
		}
	}
}

func TestComposeHasTheSetUp(t *testing.T) {
	t.Parallel()
	project := setUp(t)
	if got := apps(project); len(got) < 2 {
		t.Errorf("instances %v, want two", got)
	}
	for name, service := range project.Services {
		if service.Restart != types.RestartPolicyUnlessStopped {
			t.Errorf("%s restarts %q", name, service.Restart)
		}
		if published := len(service.Ports) > 0; published != (name == "balancer") {
			t.Errorf("%s publishes ports: %t", name, published)
		}
		if slices.Contains(apps(project), name) {
			continue
		}
		if service.HealthCheck == nil || len(service.HealthCheck.Test) == 0 {
			t.Errorf("%s has no health check", name)
		}
	}
	for _, name := range apps(project) {
		service := project.Services[name]
		for _, on := range []string{"redis", "mariadb"} {
			if service.DependsOn[on].Condition != types.ServiceConditionHealthy {
				t.Errorf("%s does not wait for a healthy %s", name, on)
			}
		}
		if !strings.Contains(read(t, "../deploy/haproxy.cfg"), " "+name+":8080") {
			t.Errorf("the balancer does not know %s", name)
		}
	}
}

var flagOfHelp = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z][a-z-]*)`)

// variables is the environment that a program reads: one for each flag of its help.
func variables(t *testing.T, program string) map[string]bool {
	t.Helper()
	help, err := exec.Command(program, "serve", "--help").CombinedOutput()
	if err != nil {
		t.Fatalf("serve --help: %v\n%s", err, help)
	}
	read := map[string]bool{}
	for _, flag := range flagOfHelp.FindAllStringSubmatch(string(help), -1) {
		name := "SECKILL_" + strings.ToUpper(strings.ReplaceAll(flag[1], "-", "_"))
		read[name] = true
	}
	return read
}

// unread is the variables that the program would not look at.
func unread(env map[string]string, read map[string]bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(env)), func(name string) bool { return read[name] || read[strings.TrimSuffix(name, "_FILE")] })
}
