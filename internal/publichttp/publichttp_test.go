package publichttp

import (
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPublic(t *testing.T) {
	for address, want := range map[string]bool{
		"93.184.216.34": true, "2606:2800:220:1:248:1893:25c8:1946": true, "::ffff:93.184.216.34": true,
		"127.0.0.1": false, "::1": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false,
		"169.254.169.254": false, "::ffff:169.254.169.254": false, "fe80::1": false, "fd00::1": false,
		"100.64.0.1": false, "0.0.0.0": false, "::": false, "0.1.2.3": false, "224.0.0.1": false,
		"255.255.255.255": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false, "::127.0.0.1": false,
		"198.18.0.1": false, "2001:db8::1": false, "fec0::1": false, "192.0.2.1": false,
	} {
		require.Equal(t, want, public(netip.MustParseAddr(address)), address)
	}
	require.Error(t, check("localhost:80"))
	require.NoError(t, check("93.184.216.34:443"))
	var private *PrivateError
	require.ErrorAs(t, check("127.0.0.1:443"), &private)
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const limit = 6 * time.Hour
	for field, want := range map[string]time.Duration{
		"": 0, "soon": 0, "-1": 0, "120": 2 * time.Minute, "999999999": limit,
		now.Add(time.Minute).Format(http.TimeFormat):  time.Minute,
		now.Add(-time.Minute).Format(http.TimeFormat): 0,
		now.AddDate(1, 0, 0).Format(http.TimeFormat):  limit,
	} {
		require.Equal(t, want, RetryAfter(field, now, limit), field)
	}
}
