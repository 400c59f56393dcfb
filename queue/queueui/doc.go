// Package queueui is a dashboard for a queue, as an [http.Handler]. It shows what is out of order, groups of errors,
// statistics of waiting, running and finished jobs, lists of jobs by state, type, user, tag, limit key and error, each
// job with its attempts, steps and log, and flows as pictures. People can retry and cancel jobs and flows, one or all
// of a list, pause types, set limits, fire schedules, and give back the jobs of a worker that is dead.
//
//	ui, err := queueui.New(q, nil)
//	mux.Handle("/jobs/", requireLogin(http.StripPrefix("/jobs", ui)))
//
// Pages are rendered on the server and work without JavaScript. With JavaScript, server-sent events keep them up to
// date, times are those of the reader's zone, and the keys that the button Keys lists work. There is no build step, and
// nothing is loaded from other hosts.
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
// jobs with tags, and one by an error the errors of all jobs that the other filters select. A list of one state, or of
// a group of errors, counts its jobs.
//
// The overview shows what [queueadmin.Doctor] and [queueadmin.ErrorGroups] find. They run in the background while it is
// looked at, one at a time for all its viewers, for a twentieth of the time at most, and again after an action.
//
// # Shutdown
//
// A stream of events lasts until its reader leaves, and [http.Server.Shutdown] waits for it. [Handler.Close] ends all
// streams:
//
//	server.RegisterOnShutdown(ui.Close)
package queueui
