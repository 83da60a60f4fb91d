package boot_test

import (
	"strings"
	"testing"

	"github.com/wopwitness/wopwitness/cmd/wopwitness/internal/boot"
)

func TestListenSaysWhatToDoWhereAnAddressIsTaken(t *testing.T) {
	taken, err := boot.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	addr := taken.Addr().String()
	second, err := boot.Listen(t.Context(), addr)
	if err == nil {
		_ = second.Close()
		t.Fatal("an address was taken twice")
	}
	if want := "listen on " + addr + ": another program does already; end it, or give another --addr"; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("it says %v, want %s…", err, want)
	}
}
