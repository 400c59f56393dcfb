package publichttp

import (
	"fmt"
	"net/netip"
)

// check refuses an address with a port that is not public.
func check(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("address %q: %w", address, err)
	}
	if !public(at.Addr()) {
		return &PrivateError{Addr: at.Addr()}
	}
	return nil
}

// A PrivateError reports an address that is not reached over the internet.
type PrivateError struct{ Addr netip.Addr }

// Error names the address.
func (e *PrivateError) Error() string {
	return e.Addr.String() + " is not a public address; allow private ones if the receiver is yours"
}

// notPublic are the blocks that no method of netip covers (RFC 6890 and its registries). They include blocks that
// embed an IPv4 address, which could be in a private network.
var notPublic = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/96"),
	netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"),
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("fec0::/10"),
}

// public reports whether an address is reached over the internet.
func public(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() {
		return false
	}
	for _, block := range notPublic {
		if block.Contains(a) {
			return false
		}
	}
	return true
}
