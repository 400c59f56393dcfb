// Package doors has no code: its tests compare what the commands, the HTTP API, the tools of assistants and the page say
// about the same action, decision, message, rule and request on each database, so that no door has a truth of its own.
package doors
