package when

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheZoneOfTheMachine(t *testing.T) {
	link := func(target string) string {
		at := filepath.Join(t.TempDir(), "localtime")
		require.NoError(t, os.Symlink(target, at))
		return at
	}
	copied := filepath.Join(t.TempDir(), "localtime")
	require.NoError(t, os.WriteFile(copied, []byte("TZif2"), 0o600))
	for _, test := range []struct{ local, link, want string }{
		{"Local", link("/usr/share/zoneinfo/Europe/Berlin"), "Europe/Berlin"},
		{"Local", link("../usr/share/zoneinfo/America/Argentina/Salta"), "America/Argentina/Salta"},
		{"Local", link("/usr/share/zoneinfo/Middle/Earth"), "Local"}, {"Local", link("/var/db/zone"), "Local"},
		{"Local", copied, "Local"}, {"Local", filepath.Join(copied, "none"), "Local"},
		{"Asia/Tokyo", copied, "Asia/Tokyo"}, {"UTC", copied, "UTC"}, {"/opt/zone", copied, "Local"},
	} {
		require.Equal(t, test.want, machineZone(test.local, test.link), test)
	}
}
