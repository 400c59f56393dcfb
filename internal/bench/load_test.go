package main

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEveryPayloadHasTheSameSize(t *testing.T) {
	for _, n := range []int64{0, 7, 10, 99_999, 1 << 62} {
		p := newPayload(n)
		require.Len(t, p.JSON(), payloadSize)
		decoded, err := decodePayload(p.JSON())
		require.NoError(t, err)
		require.Equal(t, p, decoded)
		require.Equal(t, n, payloadNumber(string(p.JSON())))
	}
	require.Equal(t, int64(-1), payloadNumber(`{"n":`))
	require.Equal(t, int64(-1), payloadNumber(`{"other":1,"n":2}`))
}

func TestTheTailNeedsAThousandSamples(t *testing.T) {
	samples := make([]float64, 1000)
	for i := range samples {
		samples[i] = float64(1000 - i)
	}
	require.Equal(t, Percentiles{500, 950, 990, 999}, percentilesOf(samples))
	require.Equal(t, "500 / 950 / 990 / 999", percentilesOf(samples).String())
	require.Zero(t, percentilesOf(samples[1:])[3])
	require.Equal(t, "– / – / – / –", percentilesOf(nil).String())
}

func TestMediansAreOfTheRoundsThatHaveAPart(t *testing.T) {
	figure := medianFigure([]Figure{
		{Rate: 1, Latencies: map[string]Percentiles{callLatency: {1, 2, 3, 0}}},
		{Rate: 9, Latencies: map[string]Percentiles{callLatency: {2, 3, 4, 8}}},
		{Rate: 2, Latencies: map[string]Percentiles{callLatency: {9, 9, 9, 6}}},
	})
	require.Equal(t, Figure{Rate: 2, Latencies: map[string]Percentiles{callLatency: {2, 3, 4, 7}}}, figure)
}

func TestFiguresTravelBetweenProcesses(t *testing.T) {
	figure := Figure{Rate: 12.5, Latencies: map[string]Percentiles{startLatency: {1, 2, 3, 0}}}
	text, err := encode(figure)
	require.NoError(t, err)
	var arrived Figure
	require.NoError(t, decode(text, &arrived))
	require.Equal(t, figure, arrived)
	require.Error(t, decode("no base64", &arrived))
}

func TestJobsAreEnqueuedWhileWorkersRun(t *testing.T) {
	for name, measure := range map[string]func(context.Context, Queue, *Size) (Figure, error){"mixed": mixed, "paced": paced} {
		t.Run(name, func(t *testing.T) {
			figure, err := measure(t.Context(), newMemoryQueue(), quickSize())
			require.NoError(t, err)
			require.Positive(t, figure.Latencies[callLatency][0])
			require.Positive(t, figure.Latencies[startLatency][0])
			require.Equal(t, name == "mixed", figure.Rate > 0, "the rate of paced jobs is given")
		})
	}
}

func TestALoadCountsNoJobThatWasLost(t *testing.T) {
	q := newMemoryQueue()
	q.loses = 20
	_, err := mixed(t.Context(), q, quickSize())
	require.ErrorContains(t, err, "of 100 jobs")
	q = newMemoryQueue()
	q.fails = errors.New("boom")
	_, err = mixed(t.Context(), q, quickSize())
	require.ErrorIs(t, err, q.fails)
}

// A proxy holds answers back and changes nothing about them.
func TestAProxyDelaysAnswers(t *testing.T) {
	server, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() {
		conn, err := server.Accept()
		if err == nil {
			_, _ = io.Copy(conn, conn)
			_ = conn.Close()
		}
	}()
	const delay = 20 * time.Millisecond
	p, err := startProxy(t.Context(), server.Addr().String(), delay)
	require.NoError(t, err)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", p.address())
	require.NoError(t, err)
	for _, text := range []string{"first", "and then the second"} {
		begin := time.Now()
		_, err = conn.Write([]byte(text))
		require.NoError(t, err)
		answer := make([]byte, len(text))
		_, err = io.ReadFull(conn, answer)
		require.NoError(t, err)
		require.Equal(t, text, string(answer))
		require.GreaterOrEqual(t, time.Since(begin), delay)
	}
	require.NoError(t, p.close())
	_, err = conn.Read(make([]byte, 1))
	require.Error(t, err, "closing a proxy ends its connections")
	require.NoError(t, server.Close())
}

func TestMachinesAreReportedBesideTheBestPeer(t *testing.T) {
	b := &bench{engines: engines("", ""), size: fullSize(), contenders: []Contender{
		{Engine: "postgres", Name: ourName}, {Engine: "postgres", Name: "River", Peer: true},
		{Engine: "postgres", Name: "River", Variant: "polling", Peer: true}, {Engine: "postgres", Name: "never measured"},
	}}
	b.machines = []machineResult{{
		Engine: "postgres", Case: machineCase{Machines: 4, Work: 5 * time.Millisecond, Delay: time.Millisecond}, Trip: 1300 * time.Microsecond,
		By: map[string][]float64{"postgres/postroom": {3000, 1, 6000}, "postgres/River": {1000}, "postgres/River polling": {1500}},
	}}
	require.Equal(t, []string{ourName, "River"}, b.machineNames())
	require.Equal(t, [][]string{{"PostgreSQL", "1ms", "1.30 ms", "5ms", "4", "8,000", "3,000", "1,500 (polling)", "2.00"}}, b.machineRows())
}

// memoryQueue runs what is enqueued, but for some.
type memoryQueue struct {
	Queue
	jobs       chan Payload
	unfinished atomic.Int64
	loses      int
	fails      error
}

func newMemoryQueue() *memoryQueue { return &memoryQueue{jobs: make(chan Payload, 10_000)} }

func (m *memoryQueue) Enqueue(_ context.Context, p Payload) error {
	m.unfinished.Add(1)
	if p.N < int64(m.loses) {
		m.unfinished.Add(-1) // it says that it has run
		return nil
	}
	m.jobs <- p
	return nil
}

func (m *memoryQueue) Run(ctx context.Context, ran func(n int64)) error {
	for m.fails == nil {
		select {
		case p := <-m.jobs:
			ran(p.N)
			m.unfinished.Add(-1)
		case <-ctx.Done():
			return nil
		}
	}
	return m.fails
}

func (m *memoryQueue) Unfinished(context.Context) (int, error) { return int(m.unfinished.Load()), nil }
