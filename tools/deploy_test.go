package tools

import (
	"testing"
)

// TestTheSetUpOfDeployments builds the program as the image does, and holds it against what docker-compose.yml gives it.
func TestTheSetUpOfDeployments(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program as the image does")
	}
	t.Parallel()
	program := buildImage(t)
	mustBeStatic(t, program)
}
