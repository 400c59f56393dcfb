package safety

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A seenLog records how far a ledger has seen the audit log: committed entries, by whichever program. No statement undoes it. The
// file has a line for each fact, later facts further down. Programs that share the file append to it. A line without its end is
// incomplete and does not count.
type seenLog struct {
	path string // empty: there is no file

	mu     sync.Mutex
	seen   seenState
	unkept map[string]string // lines that the file does not have yet, by subject
	file   fs.FileInfo       // the file as read; nil if it was not read
	read   int64             // how much of it

	after map[int]following // of the chains
	lost  error             // the audit log was cut, and has been added to since
}

// A following is the end of a chain that is known to continue an end that was seen.
type following struct{ end, seen AuditHead }

// A seenState is the content of a seenLog.
type seenState struct {
	ends     map[int]AuditHead
	revs     map[seenRule]int // the number of entries about a rule
	accepted acceptance
}

type seenRule struct{ kind, id string }

// An acceptance records that a person has accepted an audit log that was cut.
type acceptance struct {
	entries int64 // of all chains, then
	id      string
}

// line returns the text of the end of a chain, of a rule or of an acceptance. about is its subject: a later line about the same
// subject replaces it. An acceptance sorts first, because it discards earlier lines.
func (h AuditHead) line() (about, line string) { return "end " + strconv.Itoa(h.Lane), h.String() }

func (r seenRule) line(rev int) (about, line string) {
	about = "rule " + r.kind + " " + strconv.Quote(r.id)
	return about, "rule " + strconv.Itoa(rev) + " " + r.kind + " " + strconv.Quote(r.id)
}

func (a acceptance) line() (about, line string) {
	return "", "accepted " + strconv.FormatInt(a.entries, 10) + " " + a.id
}

// reach notes the end of a chain, if it is later than the one that was seen.
func (s *seenState) reach(h AuditHead) bool {
	if h.Entries <= s.ends[h.Lane].Entries {
		return false
	}
	if s.ends == nil {
		s.ends = map[int]AuditHead{}
	}
	s.ends[h.Lane] = h
	return true
}

func (s *seenState) wrote(r seenRule, rev int) bool {
	if rev <= s.revs[r] {
		return false
	}
	if s.revs == nil {
		s.revs = map[seenRule]int{}
	}
	s.revs[r] = rev
	return true
}

// accept discards all that was seen before.
func (s *seenState) accept(a acceptance) bool {
	if a == s.accepted {
		return false
	}
	*s = seenState{accepted: a}
	return true
}

// add parses a line of the file.
func (s *seenState) add(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "accepted":
		number, id, _ := strings.Cut(rest, " ")
		entries, err := strconv.ParseInt(number, 10, 64)
		if err != nil || id == "" {
			return errors.New("it does not say what was accepted")
		}
		s.accept(acceptance{entries, id})
	case "rule":
		number, about, _ := strings.Cut(rest, " ")
		kind, quoted, _ := strings.Cut(about, " ")
		rev, badRev := strconv.Atoi(number)
		id, badID := strconv.Unquote(quoted)
		if badRev != nil || badID != nil {
			return errors.New("it does not say which rule was seen")
		}
		s.wrote(seenRule{kind, id}, rev)
	default:
		h, err := ParseAuditHead(line)
		if err != nil {
			return err
		}
		s.reach(h)
	}
	return nil
}

// lines returns a line for each fact.
func (s *seenState) lines() map[string]string {
	lines := map[string]string{}
	put := func(about, line string) { lines[about] = line }
	if s.accepted.id != "" {
		put(s.accepted.line())
	}
	for _, h := range s.ends {
		put(h.line())
	}
	for r, rev := range s.revs {
		put(r.line(rev))
	}
	return lines
}

// end returns the last end that was seen of a chain; zero if there is none.
func (l *seenLog) end(lane int) AuditHead {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen.ends[lane]
}

// knows reports whether end is known to equal or continue seen.
func (l *seenLog) knows(end, seen AuditHead) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return seen == end || seen.Entries == 0 || l.after[end.Lane] == following{end, seen}
}

// missed returns [ErrLogCut] if the audit log is known to be cut without a statement. end must be the end of a chain to which no
// other transaction can add.
func (l *seenLog) missed(end AuditHead) error {
	if seen := l.end(end.Lane); !l.knows(end, seen) && end.Entries <= seen.Entries {
		return cut(seen)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// lose notes that the audit log was cut; nil means that it is whole.
func (l *seenLog) lose(lost error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = lost
}

// follows notes that an end continues one that was seen, committed or not.
func (l *seenLog) follows(end, seen AuditHead) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.after == nil {
		l.after = map[int]following{}
	}
	l.after[end.Lane] = following{end, seen}
}

// reach notes the committed end of a chain, which continues the ends in after. If the last end that was seen is not among them,
// it is left to [Ledger.Remember].
func (l *seenLog) reach(end AuditHead, after ...AuditHead) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if seen := l.seen.ends[end.Lane]; seen.Entries != 0 && !slices.Contains(after, seen) {
		return
	}
	if l.seen.reach(end) {
		l.keepLater(end.line())
	}
}

// wrote notes the number of entries about a rule.
func (l *seenLog) wrote(r seenRule, rev int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen.wrote(r, rev) {
		l.keepLater(r.line(rev))
	}
}

// accept discards what this and other programs saw before a person accepted the audit log.
func (l *seenLog) accept(a acceptance) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.readFile() // if the file cannot be read, writing it fails and reports that
	if l.seen.accept(a) {
		l.unkept, l.lost = nil, nil
		l.keepLater(a.line())
	}
}

func (l *seenLog) keepLater(about, line string) {
	if l.path == "" {
		return
	}
	if l.unkept == nil {
		l.unkept = map[string]string{}
	}
	l.unkept[about] = line
}

// now returns the ends that were seen, also by programs that share the file, and the last acceptance.
func (l *seenLog) now() (ends []AuditHead, accepted acceptance, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err = l.readFile()
	return slices.Collect(maps.Values(l.seen.ends)), l.seen.accepted, err
}

// rules returns the number of entries that were seen about each rule.
func (l *seenLog) rules() map[seenRule]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.seen.revs)
}

// rev returns the number of entries that were seen about a rule.
func (l *seenLog) rev(r seenRule) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.readFile()
	return l.seen.revs[r], err
}

// readFile reads what was added to the file. A new or replaced file is read from its beginning.
func (l *seenLog) readFile() error {
	if l.path == "" {
		return nil
	}
	info, err := os.Stat(l.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if l.file != nil { // somebody has removed it
			l.file, l.read, l.unkept = nil, 0, l.seen.lines()
		}
		return nil
	case err != nil:
		return l.fault(err)
	case l.file != nil && os.SameFile(l.file, info) && info.Size() == l.read:
		return nil
	case l.file == nil || !os.SameFile(l.file, info) || info.Size() < l.read:
		l.read = 0
	}
	l.file = info
	return l.readLines()
}

// readLines reads the complete lines after the last one that was read.
func (l *seenLog) readLines() error {
	file, err := os.Open(l.path)
	if err != nil {
		return l.fault(err)
	}
	text, err := io.ReadAll(io.NewSectionReader(file, l.read, 1<<62))
	if err = errors.Join(err, file.Close()); err != nil {
		return l.fault(err)
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	for line := range strings.Lines(string(text)) {
		line, whole := strings.CutSuffix(strings.TrimRight(line, "\r\n"), lineEnd)
		if !whole { // a comment, or an incomplete line of a process that was killed
			continue
		}
		accepted := l.seen.accepted
		if err := l.seen.add(line); err != nil {
			return l.fault(fmt.Errorf("%q: %w; remove it if you stand by the log as it is", line, err))
		}
		if l.seen.accepted != accepted {
			l.unkept, l.lost = nil, nil
		}
	}
	l.read += int64(len(text))
	return nil
}

func (l *seenLog) fault(err error) error {
	return fmt.Errorf("%s, which has how far the log was seen, cannot be used: %w", l.path, err)
}

// longSeen is the size from which the file is rewritten with one line for each subject.
const longSeen = 1 << 20

// keep appends the unkept lines to the file.
func (l *seenLog) keep() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.readFile(); err != nil || len(l.unkept) == 0 {
		return err
	}
	if l.file != nil && l.file.Size() > longSeen && l.rewrite() == nil { // otherwise append: the file may be a mount of its own
		return nil
	}
	file, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = file.WriteString("\n" + textOf(l.unkept)) // the last line may be incomplete
		err = errors.Join(err, file.Sync(), file.Close())
	}
	if err != nil {
		return l.fault(err)
	}
	l.unkept = nil
	return l.readFile()
}

// rewrite replaces the file with one that has one line for each subject.
func (l *seenLog) rewrite() error {
	file, err := os.CreateTemp(filepath.Dir(l.path), filepath.Base(l.path)+".*") // for its owner only
	if err != nil {
		return l.fault(err)
	}
	_, err = file.WriteString(textOf(l.seen.lines()))
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), l.path)
	}
	if err != nil {
		return l.fault(errors.Join(err, os.Remove(file.Name())))
	}
	l.file, l.read, l.unkept = nil, 0, nil
	return l.readFile()
}

// lineEnd ends each complete line.
const lineEnd = " ."

func textOf(lines map[string]string) string {
	var text strings.Builder
	for _, about := range slices.Sorted(maps.Keys(lines)) {
		text.WriteString(lines[about] + lineEnd + "\n")
	}
	return text.String()
}
