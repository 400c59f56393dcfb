//go:build ignore

// This program writes suffixes.txt: the rules of the public suffix list that golang.org/x/net has, sorted, one a line.
package main

import (
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "golang.org/x/net").Output()
	if err != nil {
		log.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "publicsuffix", "table_test.go"))
	if err != nil {
		log.Fatal(err)
	}
	_, table, found := strings.Cut(string(source), "var rules = [...]string{")
	table, _, closed := strings.Cut(table, "}")
	if !found || !closed {
		log.Fatal("table_test.go of publicsuffix has no rules")
	}
	var rules []string
	for _, match := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(table, -1) {
		rules = append(rules, match[1])
	}
	slices.Sort(rules)
	rules = slices.Compact(rules)
	if err := os.WriteFile("suffixes.txt", []byte(strings.Join(rules, "\n")+"\n"), 0o644); err != nil {
		log.Fatal(err)
	}
}
