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
	unkept map[string]string // lines of what was seen that were not read in the file, by what they are about
	file   fs.FileInfo       // the file that was read; nil if none was
	read   int64             // how much of it

	after map[int]following       // of the chains
	steps map[AuditHead]AuditHead // what this process has added beyond what was seen, by the new ends: the ends that it was added to
	lost  error                   // the log was found to be cut, and then went on

	searched map[int]int64 // up to which entry rejections were looked for in the chains
}

// maxSearched is how far back they are looked for.
const maxSearched = 10_000

// maxSteps bounds what is known of what this process has added: some megabytes.
const maxSteps = 10_000

// A following is the end of a chain that is known to come after one that was seen.
type following struct{ end, seen AuditHead }

// A seenState is the content of a seenLog.
type seenState struct {
	ends     map[int]AuditHead
	revs     map[seenRule]int // how often a rule was put on record
	refused  []string         // the ids of actions that a person has rejected, in order
	accepted acceptance
}

// maxRefused is how many rejected actions are remembered: the newest.
const maxRefused = 10_000

type seenRule struct{ kind, id string }

// An acceptance records that a person has accepted an audit log that was cut.
type acceptance struct {
	entries int64 // of all chains, then
	id      string
}

// line is the text of the end of a chain, of a rule, of a rejected action or of an acceptance; about tells what a later one takes the place of, and is the
// first of all for an acceptance, which forgets what comes before.
func (h AuditHead) line() (about, line string) { return "end " + strconv.Itoa(h.Lane), h.String() }

func (r seenRule) line(rev int) (about, line string) {
	about = "rule " + r.kind + " " + strconv.Quote(r.id)
	return about, "rule " + strconv.Itoa(rev) + " " + r.kind + " " + strconv.Quote(r.id)
}

func refusalLine(actionID string) (about, line string) {
	line = "no " + strconv.Quote(actionID)
	return line, line
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

// refuse notes that a person has rejected an action.
func (s *seenState) refuse(actionID string) bool {
	i, found := slices.BinarySearch(s.refused, actionID)
	if found || i == 0 && len(s.refused) == maxRefused {
		return false
	}
	s.refused = slices.Insert(s.refused, i, actionID)
	if len(s.refused) > maxRefused {
		s.refused = slices.Delete(s.refused, 0, 1)
	}
	return true
}

// accept forgets all that was seen before.
func (s *seenState) accept(a acceptance) bool {
	if a == s.accepted {
		return false
	}
	*s = seenState{accepted: a}
	return true
}

// add notes what a line of the file says, and returns what it is about, and whether that was not known.
func (s *seenState) add(line string) (about string, added bool, err error) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "accepted":
		number, id, _ := strings.Cut(rest, " ")
		entries, err := strconv.ParseInt(number, 10, 64)
		if err != nil || id == "" {
			return "", false, errors.New("it does not say what was accepted")
		}
		a := acceptance{entries, id}
		about, _ = a.line()
		return about, s.accept(a), nil
	case "rule":
		number, named, _ := strings.Cut(rest, " ")
		kind, quoted, _ := strings.Cut(named, " ")
		rev, badRev := strconv.Atoi(number)
		id, badID := strconv.Unquote(quoted)
		if badRev != nil || badID != nil {
			return "", false, errors.New("it does not say which rule was seen")
		}
		r := seenRule{kind, id}
		about, _ = r.line(rev)
		return about, s.wrote(r, rev), nil
	case "no":
		id, err := strconv.Unquote(rest)
		if err != nil {
			return "", false, errors.New("it does not say which action was rejected")
		}
		about, _ = refusalLine(id)
		return about, s.refuse(id), nil
	}
	h, err := ParseAuditHead(line)
	if err != nil {
		return "", false, err
	}
	about, _ = h.line()
	return about, s.reach(h), nil
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
	for _, id := range s.refused {
		put(refusalLine(id))
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

// step notes that this process has added to a chain, committed or not.
func (l *seenLog) step(from, to AuditHead) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.steps == nil || len(l.steps) == maxSteps { // most were rolled back, or nobody calls Remember
		l.steps = map[AuditHead]AuditHead{}
	}
	l.steps[to] = from
}

// reach notes that a chain reaches to an end, which is committed and comes after some others. If neither they nor what this process has
// added leads back to the last that was seen, it is not known whether the chain has that, and [Ledger.Remember] finds out.
func (l *seenLog) reach(end AuditHead, after ...AuditHead) {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := l.seen.ends[end.Lane]
	if seen.Entries != 0 && !slices.Contains(after, seen) && !l.leads(end, seen) {
		return
	}
	if l.seen.reach(end) {
		l.keepLater(end.line())
	}
	for from, ok := l.steps[end]; ok; from, ok = l.steps[end] {
		delete(l.steps, end)
		end = from
	}
}

// leads reports whether what this process has added leads from one end to another.
func (l *seenLog) leads(end, seen AuditHead) bool {
	for ok := true; ok && end.Entries > seen.Entries; {
		end, ok = l.steps[end]
	}
	return end == seen
}

// wrote notes the number of entries about a rule.
func (l *seenLog) wrote(r seenRule, rev int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen.wrote(r, rev) {
		l.keepLater(r.line(rev))
	}
}

// refuse notes that a person has rejected an action.
func (l *seenLog) refuse(actionID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen.refuse(actionID) {
		l.keepLater(refusalLine(actionID))
	}
}

// refused reports whether a person was seen to reject an action.
func (l *seenLog) refused(actionID string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.readFile() // what others have seen; if it cannot be read, what needs the log does not start
	_, found := slices.BinarySearch(l.seen.refused, actionID)
	return found
}

// unsearched returns the entry of a chain after which rejections were not looked for yet.
func (l *seenLog) unsearched(end AuditHead) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(l.searched[end.Lane], end.Entries-maxSearched)
}

// search notes that rejections were looked for up to the end of a chain.
func (l *seenLog) search(end AuditHead) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.searched == nil {
		l.searched = map[int]int64{}
	}
	l.searched[end.Lane] = end.Entries
}

// accept forgets what was seen before a person has accepted the log, by others as well.
func (l *seenLog) accept(a acceptance) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.readFile() // if the file cannot be read, writing it fails and reports that
	if l.seen.accept(a) {
		l.forget()
		l.keepLater(a.line())
	}
}

// forget forgets, with what was seen, what follows from it.
func (l *seenLog) forget() { l.unkept, l.lost, l.searched = nil, nil, nil }

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

// readFile reads what the file has that was not read yet. One that was removed, replaced or cut may lack what it had.
func (l *seenLog) readFile() error {
	if l.path == "" {
		return nil
	}
	info, err := os.Stat(l.path)
	gone := errors.Is(err, fs.ErrNotExist)
	if err != nil && !gone {
		return l.fault(err)
	}
	if l.file != nil && (gone || !os.SameFile(l.file, info) || info.Size() < l.read) {
		l.file, l.read, l.unkept = nil, 0, l.seen.lines()
	}
	if gone || l.file != nil && info.Size() == l.read {
		return nil
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
		about, added, err := l.seen.add(line)
		switch {
		case err != nil:
			return l.fault(fmt.Errorf("%q: %w; remove it if you stand by the log as it is", line, err))
		case added && about == "":
			l.forget()
		case added || l.unkept[about] == line:
			delete(l.unkept, about)
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

// maxKeeps is how often it is tried to write into a file that others replace at the same time.
const maxKeeps = 10

// keep writes what was seen into the file, until it is read there.
func (l *seenLog) keep() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for range maxKeeps {
		if err := l.readFile(); err != nil || len(l.unkept) == 0 {
			return err
		}
		if _, accepts := l.unkept[""]; accepts { // which forgets what comes before
			l.unkept = l.seen.lines()
		}
		if l.file != nil && l.file.Size() > longSeen && l.rewrite() == nil { // or it is added to: it may be mounted by itself
			continue
		}
		if err := l.append(textOf(l.unkept)); err != nil {
			return l.fault(err)
		}
	}
	return l.fault(errors.New("what is written into it is not there: it was replaced again and again"))
}

// append adds to the file, whose last line may not have been finished.
func (l *seenLog) append(text string) error {
	file, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = file.WriteString("\n" + text)
	return errors.Join(err, file.Sync(), file.Close())
}

// rewrite replaces the file with one that has each thing once, if no other process has written into it since it was read. One that does so
// at this very moment finds that out when it reads what it has written.
func (l *seenLog) rewrite() error {
	file, err := os.CreateTemp(filepath.Dir(l.path), filepath.Base(l.path)+".*") // for its owner only
	if err != nil {
		return err
	}
	_, err = file.WriteString(textOf(l.seen.lines()))
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = l.unwritten()
	}
	if err == nil {
		err = os.Rename(file.Name(), l.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}

// unwritten returns an error if another process has written into the file since it was read.
func (l *seenLog) unwritten() error {
	info, err := os.Stat(l.path)
	if err == nil && (!os.SameFile(l.file, info) || info.Size() != l.file.Size()) {
		err = errors.New("another process writes it")
	}
	return err
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
