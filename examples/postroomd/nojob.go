package main

import (
	"errors"

	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/queue"
)

// noJob converts the error for an unknown job id into a usage error.
func noJob(err error, id, listing string) error {
	if errors.Is(err, queue.ErrJobNotFound) {
		return usage.Errorf("there is no job %s; '%s' lists them", id, listing)
	}
	return err
}
