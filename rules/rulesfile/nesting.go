package rulesfile

import "strings"

// maxNesting bounds brackets and dashes within each other: the YAML parser's time grows with the square of their depth,
// and its stack with the depth.
const maxNesting = 100

// deepLine returns the number of the first line that is nested too deeply; 0 if there is none. Brackets within quotes
// do not count.
func deepLine(lines []string) int {
	depth := 0
	for i, line := range lines {
		net, peak := brackets(line)
		if depth+peak > maxNesting || leadingDashes(line) > maxNesting {
			return i + 1
		}
		depth = max(depth+net, 0)
	}
	return 0
}

// brackets counts how many more brackets and braces are open at the end of the line than at its beginning, and how many
// more at most in between.
func brackets(line string) (net, peak int) {
	quote := byte(0)
	for i := range len(line) {
		switch c := line[i]; {
		case quote != 0:
			if c == quote && (quote == '\'' || i == 0 || line[i-1] != '\\') {
				quote = 0
			}
		case (c == '\'' || c == '"') && (i == 0 || strings.IndexByte(" [{,:", line[i-1]) >= 0):
			quote = c
		case c == '#' && (i == 0 || line[i-1] == ' '):
			return net, peak
		case c == '[' || c == '{':
			net++
			peak = max(peak, net)
		case c == ']' || c == '}':
			net--
		}
	}
	return net, peak
}

// leadingDashes counts the lists that begin on one line.
func leadingDashes(line string) int {
	end := strings.IndexFunc(line, func(r rune) bool { return r != '-' && r != ' ' && r != '?' && r != '\t' })
	if end < 0 {
		end = len(line)
	}
	return strings.Count(line[:end], "-") + strings.Count(line[:end], "?")
}
