package queue

import (
	"context"
	"fmt"
	"strings"

	"seckill/model"
)

// Check asks the server whether it will do. An error that is not model.ErrUnavailable names everything that is wrong
// with it: keys may be evicted, it does not tell its replication id, it is a replica. The warnings are for an operator.
func (r *Redis) Check(ctx context.Context) (warnings []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	info := ""
	for _, section := range []string{"replication", "memory", "persistence"} {
		text, err := r.commands.Info(ctx, section).Result()
		if err != nil {
			return nil, fmt.Errorf("%w: ask redis about itself: %w", model.ErrUnavailable, err)
		}
		info += text
	}
	return checkInfo(info)
}

// checkInfo judges what INFO says.
func checkInfo(info string) (warnings []string, err error) {
	fields := map[string]string{}
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			fields[name] = value
		}
	}
	var wrong []string
	if fields["master_replid"] == "" {
		wrong = append(wrong, "it does not tell its master_replid (INFO replication), so its data's life can not be known")
	}
	if role := fields["role"]; role != "" && role != "master" {
		wrong = append(wrong, "it is a "+role+", not a master")
	}
	if policy := fields["maxmemory_policy"]; policy != "noeviction" {
		wrong = append(wrong, fmt.Sprintf("its maxmemory-policy is %q and has to be noeviction", policy))
	}
	if fields["aof_enabled"] != "1" {
		warnings = append(warnings, "redis keeps no append-only file: after a restart of it everybody in line has to join again")
	}
	if len(wrong) > 0 {
		return warnings, fmt.Errorf("redis will not do: %s", strings.Join(wrong, "; "))
	}
	return warnings, nil
}
