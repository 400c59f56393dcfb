// Package api is the JSON API of postroomd: the routes of gmail/pipeline/webapi, and those of the daemon beside them.
// They show the views of package view, as the page and the commands do. One table of routes makes both the handler and
// its description, docs/openapi.json.
package api
