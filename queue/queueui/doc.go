// Package queueui is a dashboard for a queue, as an [http.Handler]: waiting, running and finished jobs as figures and
// pictures; jobs by state and type; one job with its attempts, steps and log; retry and cancel.
//
//	ui, err := queueui.New(q, nil)
//	mux.Handle("/jobs/", requireLogin(http.StripPrefix("/jobs", ui)))
//
// Pages are made on the server and work without JavaScript. With it, what is shown is kept up to date by server-sent
// events. There is nothing to build and nothing is loaded from elsewhere.
//
// # Who may see it
//
// Everybody who can reach the handler, unless [Config.Authorize] says otherwise: logging in is the host's. A dashboard
// shows job payloads, which may be other people's mail, and lets people cancel and retry. Put it behind the host's own login,
// and look at [Config.ReadOnly] and [Config.HidePayloads].
//
// What browsers could be made to do against their user's will is refused: every request that changes something must come
// from the same origin (see [http.CrossOriginProtection]), and pages may not be framed. What is shown of jobs is escaped,
// cut where it is huge, and its control characters are made visible; the pages' content security policy allows no script
// but the one that comes with them.
//
// # What it costs
//
// A page that somebody watches is read from the database once in each [Config.Interval], however many watch it, and not at
// all when nobody does; one that takes long to read is read less often, for a tenth of the time at most. What the figures
// read is bounded: see [queueadmin.ReadStats]. Lists are found through indexes; those by a tag
// alone look at all jobs that have any.
//
// # Shutting down
//
// A stream of events goes on until its reader leaves, and [http.Server.Shutdown] waits for it. [Handler.Close] ends all of
// them:
//
//	server.RegisterOnShutdown(ui.Close)
package queueui
