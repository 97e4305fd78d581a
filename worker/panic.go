package worker

import (
	"fmt"
	"log/slog"
	"runtime/debug"
)

// recovered, deferred, turns a panic into an error and tells the operator: what runs here goes on.
func recovered(err *error, log *slog.Logger, m *metrics) {
	p := recover()
	if p == nil {
		return
	}
	m.panics.Inc()
	*err = fmt.Errorf("panic: %v", p)
	log.Error("panicked", "panic", p, "stack", string(debug.Stack()))
}
