package webui

import (
	"embed"
	"errors"
	"io/fs"
	"net/http"
	"strings"
)

//go:embed static
var staticFiles embed.FS

// Static serves the files that all pages share, and those of the folder "static" of own, below /static/. It
// lists no folder.
func Static(own fs.FS) http.Handler {
	serve := http.FileServerFS(layers{own, staticFiles})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/") {
			http.NotFound(w, r)
			return
		}
		// They are not secret, and change with the program.
		w.Header().Set("Cache-Control", "no-cache")
		serve.ServeHTTP(w, r)
	})
}

// layers opens a file in the first that has it.
type layers []fs.FS

// Open implements [fs.FS].
func (l layers) Open(name string) (fs.File, error) {
	var errs []error
	for _, layer := range l {
		f, err := layer.Open(name)
		if err == nil {
			return f, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}
