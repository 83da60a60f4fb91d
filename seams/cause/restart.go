package cause

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"strings"

	"github.com/wopwitness/wopwitness/seams/client"
	"github.com/wopwitness/wopwitness/witness/observe"
)

// Kill sends POST …/process/kill: the host's process ends at once, without tidying up, and something starts it again.
// 202 says that it will; a connection that breaks says that it did.
func Kill(ctx context.Context, s *client.Session, major int) observe.Exchange {
	return s.Do(ctx, client.Call{
		Label: "kill", Credential: observe.CredentialA, Method: http.MethodPost, Path: client.SeamPath(major, "process/kill"),
		Header: idempotent(""), Body: encode(map[string]any{}), Major: major,
	})
}

// longestOutput is how much of a failed command's output an error shows, in bytes.
const longestOutput = 400

// Command runs the operator's command in a shell, and waits for it. It ends with ctx.
func Command(ctx context.Context, command string) error {
	out, err := exec.CommandContext(ctx, "sh", "-c", command).CombinedOutput() //nolint:gosec // the operator's own
	if err == nil {
		return nil
	}
	said := strings.TrimSpace(string(out))
	if len(said) > longestOutput {
		said = "…" + strings.ToValidUTF8(said[len(said)-longestOutput:], "")
	}
	return fmt.Errorf("%s: %w: %s", command, err, said)
}
