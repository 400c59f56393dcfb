package agent

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/postroom-go/postroom/llm/internal/cleantext"
)

// The limits of the owner's files.
const (
	maxFiles    = 200
	maxFileSize = 1 << 20 // bytes; a larger file is left out
	maxPassages = 6
	maxPassage  = 400 // characters
)

// readFiles finds the passages of the owner's text files with the most words of the query. It takes no path, and
// [os.Root] follows no link out of the folder.
func (c *Config) readFiles(_ context.Context, s *Scope, a queryArguments) (string, error) {
	words := wordsOf(a.Query)
	folder := c.Folder(s.AccountID)
	if len(words) == 0 || folder == "" {
		return orNothing(nil), nil
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", fmt.Errorf("open the folder of the owner's files: %w", err)
	}
	defer root.Close()
	passages, err := passagesIn(root.FS(), words)
	if err != nil {
		return "", fmt.Errorf("read the owner's files: %w", err)
	}
	return orNothing(passages), nil
}

type passage struct {
	text  string
	words int
}

func passagesIn(folder fs.FS, words []string) ([]string, error) {
	var found []passage
	files := 0
	err := fs.WalkDir(folder, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !isText(name) || files == maxFiles {
			return err
		}
		info, err := fs.Stat(folder, name)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxFileSize {
			return nil //nolint:nilerr // such as a link that leads out of the folder
		}
		files++
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return err
		}
		found = append(found, matching(name, string(text), words)...)
		return nil
	})
	slices.SortStableFunc(found, func(a, b passage) int { return cmp.Compare(b.words, a.words) })
	texts := make([]string, 0, maxPassages)
	for _, p := range found[:min(len(found), maxPassages)] {
		texts = append(texts, p.text)
	}
	return texts, err
}

func isText(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".txt", ".md":
		return !strings.HasPrefix(path.Base(name), ".")
	}
	return false
}

// matching returns the paragraphs of a file that have words of the query.
func matching(name, text string, words []string) (found []passage) {
	for paragraph := range strings.SplitSeq(cleantext.Visible(text), "\n\n") {
		has := wordSet(paragraph)
		n := 0
		for _, w := range words {
			if has[w] {
				n++
			}
		}
		if n > 0 {
			shown := cleantext.Cut(strings.TrimSpace(paragraph), maxPassage)
			found = append(found, passage{name + ": " + shown, n})
		}
	}
	return found
}

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range splitWords(text) {
		set[w] = true
	}
	return set
}
