// Package peers holds queues of others as contenders. One is one file.
package peers

import "github.com/postroom-go/postroom/internal/bench/contender"

// All returns the contenders.
func All() []contender.Contender {
	var all []contender.Contender
	for _, some := range [][]contender.Contender{
		goqiteContenders(), backliteContenders(), riverContenders(), dbosContenders(), asynqContenders(),
	} {
		all = append(all, some...)
	}
	return all
}
