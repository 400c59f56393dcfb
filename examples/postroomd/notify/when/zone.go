package when

import (
	"os"
	"strings"
	"time"
)

// LocalZone is the name of the machine's time zone for the program itself. It is none for a schedule, which stays the
// same where another machine reads it.
const LocalZone = "Local"

// MachineZone returns the name of the time zone of this machine, such as "Europe/Berlin": that of the variable TZ, or
// the one to which /etc/localtime links. It is [LocalZone] if neither says it.
func MachineZone() string { return machineZone(time.Local.String(), "/etc/localtime") }

func machineZone(local, link string) string {
	name := local
	if name == LocalZone {
		target, err := os.Readlink(link)
		if err != nil { // it is a copy, or this is no Unix
			return LocalZone
		}
		_, name, _ = strings.Cut(target, "zoneinfo/")
	}
	if _, err := time.LoadLocation(name); err != nil || name == "" {
		return LocalZone
	}
	return name
}
