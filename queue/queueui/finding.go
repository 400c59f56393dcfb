package queueui

import (
	"net/url"
	"time"

	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/queue/queueadmin"
)

// A finding is a finding of Doctor, with what a person can do about it.
type finding struct {
	queueadmin.Finding
	Where  string // a page, relative to the mount; empty if there is none
	Word   string // the text of the link to it
	Paused bool   // the type or limit that it is about
	Limit  queue.Limit
}

// Problem reports whether something does not work.
func (f finding) Problem() bool { return f.Severity == queueadmin.SeverityProblem }

// findings says where each is to be seen or mended.
func findings(found []queueadmin.Finding, limits []queueadmin.LimitUsage, zone *time.Location) []finding {
	list := make([]finding, len(found))
	for i, f := range found {
		f.Text = inText(f.Text, zone)
		list[i] = finding{Finding: f}
		list[i].Where, list[i].Word = whereOf(f)
		kind := f.Kind
		if f.Topic == queueadmin.TopicFailing {
			kind = queue.TargetType
		}
		for j := range limits {
			if l := &limits[j]; l.Kind == kind && l.Name == f.Subject {
				list[i].Paused, list[i].Limit = l.Paused, l.Limit
			}
		}
	}
	return list
}

func whereOf(f queueadmin.Finding) (path, word string) {
	queued := jobsFilter{State: string(queue.StateQueued)}
	switch f.Topic {
	case queueadmin.TopicWorker:
		return "#workers", "Workers"
	case queueadmin.TopicType:
		queued.Type = f.Subject
	case queueadmin.TopicFailing:
		return "jobs?" + jobsFilter{State: string(queue.StateFailed), Type: f.Subject}.query().Encode(), "Failed jobs"
	case queueadmin.TopicJob:
		return "jobs/" + url.PathEscape(f.Subject), "Open the job"
	case queueadmin.TopicLimit, queueadmin.TopicPaused:
		switch {
		case f.Kind == queue.TargetKey:
			queued.LimitKey = f.Subject
		case f.Kind == queue.TargetType && f.Subject != queue.ForAll().Name:
			queued.Type = f.Subject
		}
	case queueadmin.TopicSchedule:
		return "jobs?" + jobsFilter{Tag: scheduleTag + f.Subject}.query().Encode(), "History"
	case queueadmin.TopicFlow:
		return "flows/" + url.PathEscape(f.Subject), "Open the flow"
	default:
		return "", ""
	}
	return "jobs?" + queued.query().Encode(), "Its jobs"
}

// scheduleTag begins the tag of a job that a schedule has enqueued.
const scheduleTag = "schedule:"
