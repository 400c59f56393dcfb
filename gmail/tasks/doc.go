// Package tasks keeps what is to be done about mail: the tasks that the action create_task makes.
//
//	store, err := tasks.New(tasks.Config{DB: db})
//	kinds, err := postroom.NewKinds(postroom.KindsConfig{Add: []postroom.Kind{store.Kind()}})
//
// # The way of a task
//
// [Store.Kind] is an action that rules, models and people can decide on. The task is written in the transaction that
// completes the action, so that there is one for each action, whatever is repeated after a crash. Undoing the action
// removes the task, also if it was closed since.
//
// People list the tasks with [Store.List], and end one with [Store.Close]. [Task.ICS] is a task as programs for
// calendars read it, a VTODO of RFC 5545.
package tasks
