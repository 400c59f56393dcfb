//go:build !riversqlite

package main

// The newest SQLite driver of River that can be downloaded is older than the newest PostgreSQL driver, and one program
// can link only one version of River. A second program, built from the same files, measures River on SQLite.
var riverSQLite = &program{Modfile: "riversqlite.mod", Tag: "riversqlite"}

func riverSQLiteContenders() []Contender {
	return []Contender{
		{Engine: "sqlite", Name: "River", Module: riverModule, Groups: Everything, Peer: true, Elsewhere: riverSQLite,
			Setting: "one connection, as its documentation says; MaxWorkers: 1,000, FetchCooldown: 1 ms, FetchPollInterval: 1 ms, JobCompleteTx"},
		{Engine: "sqlite", Name: "River, defaults", Groups: Draining | Starting, Elsewhere: riverSQLite,
			Setting: "one connection; MaxWorkers: 100 as in its documents, FetchCooldown: 100 ms, FetchPollInterval: 1 s"},
	}
}
