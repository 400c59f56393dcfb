package mailbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// OpenEML opens a folder of single messages: the .eml files in it and in its subfolders, sorted by path. The folder's
// identity ([Source].Name) is its absolute path.
//
// Its error is an [*OpenError].
func OpenEML(dir string) (Source, error) {
	name, err := statFolder(dir, "eml:")
	if err != nil {
		return nil, err
	}
	box := &folder{name: name}
	err = fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		file := filepath.Join(dir, filepath.FromSlash(path))
		if err != nil {
			return accessError(file, err)
		}
		if !d.IsDir() && strings.EqualFold(filepath.Ext(path), ".eml") {
			box.entries = append(box.entries, entry{name: path, path: file})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(box.entries) == 0 {
		return nil, notMailbox(dir, "has no .eml files", "")
	}
	return box, nil
}
