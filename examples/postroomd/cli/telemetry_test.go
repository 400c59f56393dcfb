package cli

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom/gmail/gmailtest"
)

// What a job logs has the ids of a trace, also where nothing is exported.
func TestLogLinesOfJobsHaveATraceWithoutAnExporter(t *testing.T) {
	m := newTeatime(t, "{action: archive}", "", letterNamed(1))
	m.server.Fault(gmailtest.Fault{Method: gmailtest.MessagesGet, Status: http.StatusServiceUnavailable})
	r := start(t, append(m.where, "--set", "app.env=prod")...)
	r.ready()
	line := regexp.MustCompile(`"job_id":"[^"]+".*"trace_id":"[0-9a-f]{32}","span_id":"[0-9a-f]{16}"`)
	r.eventually("the failure is logged", func() bool { return line.MatchString(r.log()) })
	r.stop()
	require.NotContains(t, r.log(), "telemetry is not exported")
}
