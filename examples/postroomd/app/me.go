package app

import (
	"os/user"
)

// CurrentUser returns the name of the person at the command line.
func CurrentUser() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "somebody at the command line"
}
