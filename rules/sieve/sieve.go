package sieve

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Sieve (RFC 5228) as it is written: commands and tests with arguments, whatever their names mean. Section 8 has the
// grammar.

// A command is a command, or a test: they are written alike.
type command struct {
	name  string // in lower case
	line  int
	tags  []tag
	args  [][]string // strings and lists of strings that belong to no tag
	nums  []int64    // numbers that belong to no tag
	tests []command
	block []command
}

// A tag is a tagged argument. Only the command knows which tags take a value, so the argument after a tag is kept
// with it as well.
type tag struct {
	name string // in lower case, without the colon
	args int    // how many of args stood before it
	nums int    // how many of nums did
}

// maxNesting bounds tests and blocks within each other.
const maxNesting = 32

// A parser reads a script.
type parser struct {
	text string
	at   int
	line int
}

type syntaxError struct {
	line int
	what string
}

func (e *syntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.what) }

func (p *parser) fail(format string, args ...any) error {
	return &syntaxError{p.line, fmt.Sprintf(format, args...)}
}

func parseSieve(text string) ([]command, error) {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return nil, errors.New("the script is not text in UTF-8")
	}
	p := &parser{text: strings.ReplaceAll(text, "\r\n", "\n"), line: 1}
	commands, err := p.commands(1)
	if err == nil && p.at < len(p.text) {
		err = p.fail("%q stands where a command belongs", p.text[p.at:p.at+1])
	}
	return commands, err
}

// space skips blanks and comments.
func (p *parser) space() error {
	for p.at < len(p.text) {
		switch rest := p.text[p.at:]; {
		case rest[0] == '\n':
			p.line++
			p.at++
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r':
			p.at++
		case rest[0] == '#':
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			p.at += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest, "*/")
			if end < 0 {
				return p.fail("a comment is not closed; write */")
			}
			p.line += strings.Count(rest[:end], "\n")
			p.at += end + 2
		default:
			return nil
		}
	}
	return nil
}

// peek returns the next character behind blanks and comments; 0 at the end.
func (p *parser) peek() (byte, error) {
	if err := p.space(); err != nil || p.at == len(p.text) {
		return 0, err
	}
	return p.text[p.at], nil
}

func (p *parser) commands(depth int) ([]command, error) {
	var list []command
	for {
		c, err := p.peek()
		if err != nil || c == 0 || !isSieveLetter(c) {
			return list, err
		}
		command, err := p.command(depth, false)
		if err != nil {
			return nil, err
		}
		list = append(list, command)
	}
}

func isSieveLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

func (p *parser) identifier() string {
	from := p.at
	for p.at < len(p.text) && (isSieveLetter(p.text[p.at]) || p.at > from && p.text[p.at] >= '0' && p.text[p.at] <= '9') {
		p.at++
	}
	return strings.ToLower(p.text[from:p.at])
}

// command reads a command with its terminator, or a test.
func (p *parser) command(depth int, isTest bool) (command, error) {
	c := command{line: p.line}
	if depth > maxNesting {
		return c, p.fail("blocks and tests are nested more than %d deep", maxNesting)
	}
	if c.name = p.identifier(); c.name == "" {
		return c, p.fail("a name is missing")
	}
	if err := p.arguments(&c, depth); err != nil || isTest {
		return c, err
	}
	switch next, err := p.peek(); {
	case err != nil:
		return c, err
	case next == ';':
		p.at++
		return c, nil
	case next == '{':
		p.at++
		if c.block, err = p.commands(depth + 1); err != nil {
			return c, err
		}
		if c.block == nil {
			c.block = []command{}
		}
		if next, err = p.peek(); err != nil || next != '}' {
			return c, errors.Join(err, p.fail("a block is not closed; write }"))
		}
		p.at++
		return c, nil
	}
	return c, p.fail("%s is not ended; write ; behind it", c.name)
}

func (p *parser) arguments(c *command, depth int) error {
	for {
		next, err := p.peek()
		switch {
		case err != nil:
			return err
		case next == ':':
			p.at++
			c.tags = append(c.tags, tag{p.identifier(), len(c.args), len(c.nums)})
		case next >= '0' && next <= '9':
			n, err := p.number()
			if err != nil {
				return err
			}
			c.nums = append(c.nums, n)
		case next == '"' || next == '[' || p.atMultiline():
			list, err := p.strings()
			if err != nil {
				return err
			}
			c.args = append(c.args, list)
		case next == '(':
			p.at++
			return p.tests(c, depth)
		case isSieveLetter(next):
			test, err := p.command(depth+1, true)
			c.tests = append(c.tests, test)
			return err
		default:
			return nil
		}
	}
}

// tests reads the rest of a list of tests.
func (p *parser) tests(c *command, depth int) error {
	for {
		if _, err := p.peek(); err != nil {
			return err
		}
		test, err := p.command(depth+1, true)
		if err != nil {
			return err
		}
		c.tests = append(c.tests, test)
		next, err := p.peek()
		if err != nil {
			return err
		}
		p.at++
		switch next {
		case ',':
		case ')':
			return nil
		default:
			return p.fail("a list of tests is not closed; write )")
		}
	}
}

func (p *parser) number() (int64, error) {
	from := p.at
	for p.at < len(p.text) && p.text[p.at] >= '0' && p.text[p.at] <= '9' {
		p.at++
	}
	n, err := strconv.ParseInt(p.text[from:p.at], 10, 32)
	if err != nil {
		return 0, p.fail("the number %s is too large", p.text[from:p.at])
	}
	if p.at < len(p.text) {
		if factor := map[byte]int64{'k': 1 << 10, 'm': 1 << 20, 'g': 1 << 30}[p.text[p.at]|0x20]; factor != 0 {
			p.at++
			n *= factor
		}
	}
	return n, nil
}

// atMultiline reports whether a text: of several lines begins here.
func (p *parser) atMultiline() bool {
	rest := p.text[p.at:]
	if len(rest) < 5 || !strings.EqualFold(rest[:5], "text:") {
		return false
	}
	line, _, ok := strings.Cut(rest[5:], "\n")
	line = strings.TrimLeft(line, " \t")
	return ok && (line == "" || line[0] == '#')
}

// strings reads a string or a list of strings.
func (p *parser) strings() ([]string, error) {
	if p.text[p.at] != '[' {
		text, err := p.string()
		return []string{text}, err
	}
	p.at++
	list := []string{}
	for {
		next, err := p.peek()
		switch {
		case err != nil:
			return nil, err
		case next == ']' && len(list) == 0:
			p.at++
			return list, nil
		case next != '"' && (next == 0 || !p.atMultiline()):
			return nil, p.fail("a string is missing in a list")
		}
		text, err := p.string()
		if err != nil {
			return nil, err
		}
		list = append(list, text)
		if next, err = p.peek(); err != nil {
			return nil, err
		}
		p.at++
		if next == ']' {
			return list, nil
		}
		if next != ',' {
			return nil, p.fail("a list of strings is not closed; write ]")
		}
	}
}

func (p *parser) string() (string, error) {
	if p.text[p.at] != '"' {
		return p.multiline()
	}
	var b strings.Builder
	begun := p.line
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return b.String(), nil
		case c == '\\' && p.at+1 < len(p.text):
			p.at++
			b.WriteByte(p.text[p.at])
		default:
			if c == '\n' {
				p.line++
			}
			b.WriteByte(c)
		}
	}
	return "", &syntaxError{begun, `a string is not closed; write "`}
}

// multiline reads the lines up to the one with a dot alone; a dot at the beginning of a line is doubled.
func (p *parser) multiline() (string, error) {
	begun := p.line
	p.at += strings.IndexByte(p.text[p.at:], '\n') + 1
	p.line++
	var b strings.Builder
	for p.at < len(p.text) {
		line, _, _ := strings.Cut(p.text[p.at:], "\n")
		p.at = min(p.at+len(line)+1, len(p.text))
		p.line++
		if line == "." {
			return b.String(), nil
		}
		b.WriteString(strings.TrimPrefix(line, ".") + "\n")
		if strings.HasPrefix(line, ".") && !strings.HasPrefix(line, "..") {
			return "", &syntaxError{p.line - 1, "a line of a text: begins with one dot; write two"}
		}
	}
	return "", &syntaxError{begun, "a text: is not closed; write a dot on a line of its own"}
}
