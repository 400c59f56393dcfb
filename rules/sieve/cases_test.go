package sieve

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/internal/readmail"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/rules"
)

// A scriptCase is a test of Sieve on a message, and whether it is true.
type scriptCase struct {
	test *command
	msg  *postroom.Message
	want bool
}

// readCases reads scripts in the form of Pigeonhole's test suite: test_set "message" gives a message, and in "if TEST
// { test_fail }" the test must be false, in "if not TEST { test_fail }" true. Scripts that do what no condition sees,
// such as to set variables or to change the message, are left out whole.
func readCases(t *testing.T, text string) []scriptCase {
	t.Helper()
	commands, err := parseSieve(text)
	if err != nil {
		return nil
	}
	if requires(commands, "encoded-character") {
		decodeCharacters(commands)
	}
	r := &caseReader{t: t, envelope: map[string]string{}}
	r.set()
	r.read(commands)
	return r.cases
}

type caseReader struct {
	t        *testing.T
	raw      string
	msg      *postroom.Message
	envelope map[string]string
	cases    []scriptCase
}

// set makes the message as a server delivers it: with the envelope in the fields on top.
func (r *caseReader) set() {
	var top strings.Builder
	for _, field := range [][2]string{{"envelope.to", "Delivered-To"}, {"envelope.from", "Return-Path"}} {
		if value, ok := r.envelope[field[0]]; ok {
			if !strings.ContainsAny(value, "<>") {
				value = "<" + value + ">"
			}
			fmt.Fprintf(&top, "%s: %s\n", field[1], value)
		}
	}
	r.msg = messageOf(r.t, top.String()+r.raw)
	r.msg.Size = int64(len(strings.ReplaceAll(r.raw, "\n", "\r\n")))
}

func (r *caseReader) read(commands []command) {
	for i := range commands {
		c := &commands[i]
		switch {
		case c.name == "test" || sets(c.block):
			r.read(c.block)
		case c.name == "test_set" && len(c.args) == 2 && c.args[0][0] == "message":
			r.raw = c.args[1][0]
			r.set()
		case c.name == "test_set" && len(c.args) == 2:
			r.envelope[c.args[0][0]] = c.args[1][0]
			r.set()
		case c.name == "if" && len(c.tests) == 1 && !strings.HasPrefix(inner(c).name, "test_") && fails(c.block):
			test, want := &c.tests[0], false
			if test.name == "not" && len(test.tests) == 1 {
				test, want = &test.tests[0], true
			}
			r.cases = append(r.cases, scriptCase{test, r.msg, want})
		}
	}
}

// inner is the test of a command, or of the not around it.
func inner(c *command) *command {
	if test := &c.tests[0]; test.name != "not" || len(test.tests) != 1 {
		return test
	}
	return &c.tests[0].tests[0]
}

// sets reports whether a block chooses between messages; the last one is taken.
func sets(block []command) bool { return len(block) == 1 && block[0].name == "test_set" }

func fails(block []command) bool {
	return len(block) == 1 && block[0].name == "test_fail"
}

func messageOf(t *testing.T, raw string) *postroom.Message {
	t.Helper()
	parsed, err := mime.ParseBytes([]byte(strings.ReplaceAll(raw, "\n", "\r\n")), nil)
	require.NoError(t, err)
	msg := readmail.Message(parsed)
	return msg
}

// run says how the case went: "" if the condition is exactly the test, or why it is not.
func (c *scriptCase) run() (reason string) {
	condition, err := conditionOf(c.test)
	if err != nil {
		return err.Error()
	}
	set := rules.NewSet([]rules.Rule{rules.NewRule("case", condition, postroom.Archive, nil)}, nil)
	if broken := set.Broken(); len(broken) > 0 {
		return broken[0].Err.Error()
	}
	if _, got := set.First(c.msg, time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)); got != c.want {
		return fmt.Sprintf("WRONG: %s is %t", condition, got)
	}
	return ""
}

// TestSieveCases holds which tests are conditions that are true for the same mail, and which have none.
func TestSieveCases(t *testing.T) {
	data, err := os.ReadFile("testdata/cases.txt")
	require.NoError(t, err)
	var raw strings.Builder
	var msg *postroom.Message
	exact, none := 0, 0
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if text, ok := strings.CutPrefix(line, ">"); ok {
			if msg != nil {
				raw.Reset()
				msg = nil
			}
			raw.WriteString(text + "\n")
			continue
		}
		want, test, ok := strings.Cut(line, " ")
		if !ok || want == "#" {
			continue
		}
		if msg == nil {
			msg = messageOf(t, raw.String())
		}
		commands, err := parseSieve("if " + test + " {}")
		require.NoError(t, err, test)
		decodeCharacters(commands)
		c := scriptCase{&commands[0].tests[0], msg, want == "true"}
		reason := c.run()
		if want == "never" {
			require.NotEmpty(t, reason, test)
			require.NotContains(t, reason, "WRONG", test)
			none++
			continue
		}
		require.Empty(t, reason, test)
		exact++
	}
	require.Equal(t, 249, exact, "a test that is taken away is one that is not held any more")
	require.Equal(t, 25, none)
}

// matching are the parts of the suite that are about which messages a test matches.
var matching = []string{
	"comparators/", "match-types/", "control-if", "test-", "lexer",
	"extensions/body/", "extensions/date/", "extensions/encoded-character", "extensions/envelope", "extensions/index/",
	"extensions/regex/",
	"extensions/relational/", "extensions/subaddress/basic", "extensions/subaddress/rfc",
}

// TestSieveSuite counts how many cases of a suite are conditions. The suite is not ours to copy: POSTROOM_SIEVE_TESTS
// names the folder "tests" of Pigeonhole's source.
func TestSieveSuite(t *testing.T) {
	folder := os.Getenv("POSTROOM_SIEVE_TESTS")
	if folder == "" {
		t.Skip("the cases of Pigeonhole's test suite are not tried: POSTROOM_SIEVE_TESTS does not name its folder")
	}
	reasons := map[string]int{}
	total, exact := 0, 0
	require.NoError(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".svtest") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(folder, path)
		if !slices.ContainsFunc(matching, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			return nil
		}
		for _, c := range readCases(t, string(text)) {
			total++
			reason := c.run()
			if reason == "" {
				exact++
				continue
			}
			reasons[reason]++
			t.Logf("%s:%d: %s", name, c.test.line, reason)
		}
		return nil
	}))
	list := make([]string, 0, len(reasons))
	for reason, n := range reasons {
		list = append(list, fmt.Sprintf("%4d %s", n, reason))
	}
	slices.Sort(list)
	t.Logf("%d of %d\n%s", exact, total, strings.Join(list, "\n"))
	require.NotZero(t, total, "%s holds no cases", folder)
	require.GreaterOrEqual(t, exact*100, total*85)
}
