//go:build !riversqlite

package peers

import (
	"github.com/postroom-go/postroom/internal/bench/child"
	"github.com/postroom-go/postroom/internal/bench/contender"
)

// The newest SQLite driver of River that can be downloaded is older than the newest PostgreSQL driver, and one program
// can link only one version of River. A second program, built from the same files, measures River on SQLite.
var riverSQLite = &child.Program{Modfile: "riversqlite.mod", Tag: "riversqlite"}

func riverSQLiteContenders() []contender.Contender {
	return []contender.Contender{
		{Engine: "sqlite", Name: "River", Module: riverModule, Groups: contender.Everything, Peer: true, Elsewhere: riverSQLite,
			Setting: "one connection, as its documentation says; MaxWorkers: 1,000, FetchCooldown: 1 ms, FetchPollInterval: 1 ms, JobCompleteTx"},
		{Engine: "sqlite", Name: "River, defaults", Groups: contender.Draining | contender.Starting, Elsewhere: riverSQLite,
			Setting: "one connection; MaxWorkers: 100 as in its documents, FetchCooldown: 100 ms, FetchPollInterval: 1 s"},
	}
}
