package app

import (
	"context"
	"net"
	"os"
)

// notify reports its state to systemd, for a unit of Type=notify (sd_notify(3)). Elsewhere it does nothing.
func notify(ctx context.Context, state string) error {
	socket := os.Getenv("NOTIFY_SOCKET")
	if socket == "" {
		return nil
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unixgram", socket)
	if err != nil {
		return err
	}
	_, err = conn.Write([]byte(state))
	if closed := conn.Close(); err == nil {
		err = closed
	}
	return err
}
