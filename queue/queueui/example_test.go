package queueui_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueui"
	"github.com/postroom-go/postroom/queue/sqlite"
)

// The dashboard under a path of the program's own server, for those who have logged in.
func Example() {
	ctx := context.Background()
	db, err := sqlite.OpenMemory(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if err := queue.Migrate(ctx, db); err != nil {
		log.Fatal(err)
	}
	q, err := queue.New(db, nil)
	if err != nil {
		log.Fatal(err)
	}
	requireLogin := func(next http.Handler) http.Handler { return next } // the program's own
	mux := http.NewServeMux()

	ui, err := queueui.New(q, &queueui.Config{Title: "Mail jobs"})
	if err != nil {
		log.Fatal(err)
	}
	mux.Handle("/ops/jobs/", requireLogin(http.StripPrefix("/ops/jobs", ui)))
	server := httptest.NewUnstartedServer(mux) // a program has an http.Server
	server.Config.RegisterOnShutdown(ui.Close)
	server.Start()
	defer server.Close()

	response, err := http.Get(server.URL + "/ops/jobs/")
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	page, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(response.Status, strings.Contains(string(page), "<title>Overview – Mail jobs</title>"))
	// Output: 200 OK true
}
