package queue

import (
	"fmt"
	"os"
	"sync"

	"github.com/google/uuid"
)

// identity is the worker's name in the database. It changes when the worker has been declared dead.
type identity struct {
	mu sync.Mutex
	id string
}

func newIdentity() *identity {
	i := &identity{}
	i.renew()
	return i
}

func (i *identity) get() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.id
}

func (i *identity) renew() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.id = fmt.Sprintf("%s-%d-%s", host, os.Getpid(), uuid.NewString()[:8])
	return i.id
}
