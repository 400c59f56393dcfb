// Package queueui is a dashboard for a queue, as an [http.Handler]. It shows statistics of waiting, running and
// finished jobs, lists of jobs by state and type, and each job with its attempts, steps and log. People can retry and
// cancel jobs.
//
//	ui, err := queueui.New(q, nil)
//	mux.Handle("/jobs/", requireLogin(http.StripPrefix("/jobs", ui)))
//
// Pages are rendered on the server and work without JavaScript. With JavaScript, server-sent events keep them up to
// date. There is no build step, and nothing is loaded from other hosts.
//
// # Access
//
// Everybody who can reach the handler may use the dashboard, unless [Config.Authorize] refuses: the host must provide a
// login. The dashboard shows job payloads, which may be other people's mail, and lets people cancel and retry jobs. Put
// it behind the host's own login, and consider [Config.ReadOnly] and [Config.HidePayloads]. A host without a login has
// [Login], also on a loopback address, which all users of the machine reach.
//
// Every request that changes something must come from the same origin (see [http.CrossOriginProtection]), and pages may
// not be framed. Values of jobs are escaped, shortened if they are huge, and their control characters are made visible.
// The pages' content security policy allows only the dashboard's own script.
//
// # Cost
//
// A watched page is read from the database once in each [Config.Interval], regardless of the number of watchers, and
// not at all without watchers. A slow page is read less often, so that reading takes a tenth of the time at most. The
// statistics are bounded: see [queueadmin.ReadStats]. Lists use indexes; a list that filters only by a tag reads all
// jobs with tags.
//
// # Shutdown
//
// A stream of events lasts until its reader leaves, and [http.Server.Shutdown] waits for it. [Handler.Close] ends all
// streams:
//
//	server.RegisterOnShutdown(ui.Close)
package queueui
