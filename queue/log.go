package queue

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/postroom-go/postroom/queue/driver"
)

// The bounds on the stored log of an attempt, and on the message or the attributes of one line.
const (
	maxLogLines = 200
	maxLogBytes = 32 << 10
	maxLineText = 8 << 10
)

// Logger returns a logger for the attempt. Its lines go to the dispatcher's logger, with the job's id, type and
// attempt, and are stored with the job, where [Queue.Logs] finds them: lines of level Info and above, and lower ones
// that the dispatcher's logger accepts.
//
// The last 200 lines of an attempt are kept, and of those at most 32 KB; the numbers of the lines show how many
// preceded them. A message of more than 8 KB is cut and ends with "…"; larger attributes are kept as the beginning of
// their text, in one named !CUT. The queue's [Codec] encodes stored lines. The lines are written in the transaction
// that ends the attempt, however it ends. Lines logged after [Attempt.Complete], and those of an attempt that loses its
// lease or whose process dies, go to the dispatcher's logger alone.
func (a *Attempt) Logger() *slog.Logger {
	if a.made("log") != nil {
		return slog.Default()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.kept == nil {
		a.kept = newKeptLog(a)
	}
	return a.kept.logger
}

// logLines are the lines to keep, as they are stored; nil when the handler has not logged.
func (a *Attempt) logLines() []LogLine {
	a.mu.Lock()
	kept := a.kept
	a.mu.Unlock()
	if kept == nil {
		return nil
	}
	lines := kept.snapshot()
	a.q.codecs.encodeLines(lines)
	return lines
}

func (q *Queue) addLogs(ctx context.Context, tx *driver.WriteTx, lines []LogLine) error {
	if len(lines) == 0 {
		return nil
	}
	return q.driver.AddLogs(ctx, tx, mapped(lines, func(l LogLine) driver.LogLine { return driver.LogLine(l) }))
}

// A keptLog is the end of an attempt's log.
type keptLog struct {
	lease  driver.Lease
	logger *slog.Logger

	mu    sync.Mutex
	lines []LogLine
	bytes int // of the lines
	count int // of all lines there were
}

func newKeptLog(a *Attempt) *keptLog {
	k := &keptLog{lease: a.job.lease()}
	log := a.log.With(logJobID, a.job.ID, logJobType, a.job.Type, logAttempt, a.job.Attempt)
	k.logger = slog.New(&logHandler{
		next: log.Handler(),
		// In a group, so that no attribute is taken for the line's own time, level or message.
		keep: slog.NewJSONHandler(k, &slog.HandlerOptions{Level: slog.Level(-1 << 31)}).WithGroup("attrs"),
	})
	return k
}

// Write takes one line as slog's JSON handler writes it: with a call for each.
func (k *keptLog) Write(record []byte) (int, error) {
	var parsed struct {
		Time  time.Time       `json:"time"`
		Level slog.Level      `json:"level"`
		Msg   string          `json:"msg"`
		Attrs json.RawMessage `json:"attrs"`
	}
	if err := json.Unmarshal(record, &parsed); err != nil {
		return 0, err
	}
	if parsed.Time.IsZero() {
		parsed.Time = time.Now()
	}
	k.add(LogLine{
		JobID: k.lease.JobID, Attempt: k.lease.Attempt, At: parsed.Time, Level: parsed.Level,
		Message: cutText(storable(parsed.Msg)), Attrs: storableAttrs(parsed.Attrs),
	})
	return len(record), nil
}

func (k *keptLog) add(line LogLine) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.count++
	line.Line = k.count
	k.lines = append(k.lines, line)
	k.bytes += line.size()
	for len(k.lines) > maxLogLines || k.bytes > maxLogBytes {
		k.bytes -= k.lines[0].size()
		k.lines = k.lines[1:]
	}
}

func (k *keptLog) snapshot() []LogLine {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]LogLine(nil), k.lines...)
}

func (l *LogLine) size() int { return len(l.Message) + len(l.Attrs) }

func cutText(text string) string {
	if len(text) <= maxLineText {
		return text
	}
	return strings.ToValidUTF8(text[:maxLineText], "") + "…"
}

// storableAttrs are attributes as every database takes them. Those that are too long become the text they begin with.
func storableAttrs(attrs json.RawMessage) json.RawMessage {
	if len(attrs) > maxLineText {
		// Half of it, because quoting may double it.
		return quoteCut(strings.ToValidUTF8(string(attrs[:maxLineText/2]), "") + "…")
	}
	if !utf8.Valid(attrs) {
		return json.RawMessage(strings.ToValidUTF8(string(attrs), "\uFFFD"))
	}
	return attrs
}

func quoteCut(text string) json.RawMessage {
	var quoted bytes.Buffer
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(map[string]string{"!CUT": text}); err != nil {
		return nil
	}
	return bytes.TrimSpace(quoted.Bytes())
}

// A logHandler passes each record to the dispatcher's logger and to the handler that stores it.
type logHandler struct{ next, keep slog.Handler }

// Enabled implements [slog.Handler].
func (h *logHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo || h.next.Enabled(ctx, level)
}

// Handle implements [slog.Handler].
func (h *logHandler) Handle(ctx context.Context, record slog.Record) error {
	var err error
	if h.next.Enabled(ctx, record.Level) {
		err = h.next.Handle(ctx, record.Clone())
	}
	return errors.Join(err, h.keep.Handle(ctx, record))
}

// WithAttrs implements [slog.Handler].
func (h *logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &logHandler{next: h.next.WithAttrs(attrs), keep: h.keep.WithAttrs(attrs)}
}

// WithGroup implements [slog.Handler].
func (h *logHandler) WithGroup(name string) slog.Handler {
	return &logHandler{next: h.next.WithGroup(name), keep: h.keep.WithGroup(name)}
}
