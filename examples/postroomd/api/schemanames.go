package api

import (
	"reflect"

	"github.com/postroom-go/postroom/examples/postroomd/absence"
	"github.com/postroom-go/postroom/examples/postroomd/enrichment"
	"github.com/postroom-go/postroom/examples/postroomd/firstlook"
	"github.com/postroom-go/postroom/examples/postroomd/learning"
	"github.com/postroom-go/postroom/examples/postroomd/reminding"
	"github.com/postroom-go/postroom/examples/postroomd/statistics"
	"github.com/postroom-go/postroom/examples/postroomd/subscriptions"
	"github.com/postroom-go/postroom/examples/postroomd/view"
	"github.com/postroom-go/postroom/examples/postroomd/view/calls"
	"github.com/postroom-go/postroom/examples/postroomd/view/drafts"
	"github.com/postroom-go/postroom/examples/postroomd/view/runs"
	"github.com/postroom-go/postroom/rules"
	"github.com/postroom-go/postroom/rules/backtest"
	"github.com/postroom-go/postroom/rules/onboarding"
)

// schemaNames are the names in the description of types whose own name says too little without its package, or is that
// of another type.
var schemaNames = map[reflect.Type]string{
	reflect.TypeFor[absence.Preview]():    "AbsencePreview",
	reflect.TypeFor[absence.Sender]():     "AbsenceSender",
	reflect.TypeFor[absence.Status]():     "Absence",
	reflect.TypeFor[backtest.Action]():    "BacktestAction",
	reflect.TypeFor[backtest.Change]():    "BacktestChange",
	reflect.TypeFor[backtest.Report]():    "Backtest",
	reflect.TypeFor[backtest.Rule]():      "BacktestRule",
	reflect.TypeFor[calls.Call]():         "ModelCall",
	reflect.TypeFor[calls.Page]():         "ModelCallList",
	reflect.TypeFor[drafts.Change]():      "DraftChange",
	reflect.TypeFor[drafts.Message]():     "DraftMessage",
	reflect.TypeFor[drafts.Page]():        "DraftList",
	reflect.TypeFor[drafts.Text]():        "DraftText",
	reflect.TypeFor[drafts.Whole]():       "WholeDraft",
	reflect.TypeFor[enrichment.Result]():  "FoundOut",
	reflect.TypeFor[enrichment.Page]():    "MeaningList",
	reflect.TypeFor[enrichment.Sign]():    "MailMeaning",
	reflect.TypeFor[enrichment.View]():    "Meaning",
	reflect.TypeFor[firstlook.Report]():   "FirstLook",
	reflect.TypeFor[learning.Message]():   "TeachingMessage",
	reflect.TypeFor[learning.Rule]():      "LearnedRule",
	reflect.TypeFor[onboarding.Label]():   "LabelSeen",
	reflect.TypeFor[onboarding.Sender]():  "SenderSeen",
	reflect.TypeFor[reminding.Page]():     "ReminderList",
	reflect.TypeFor[rules.Schedule]():     "RuleTimes",
	reflect.TypeFor[runs.Page]():          "RunList",
	reflect.TypeFor[runs.Schedule]():      "AgentSchedule",
	reflect.TypeFor[runs.Schedules]():     "AgentScheduleList",
	reflect.TypeFor[runs.Step]():          "RunStep",
	reflect.TypeFor[statistics.Act]():     "StatisticsAct",
	reflect.TypeFor[statistics.View]():    "Statistics",
	reflect.TypeFor[subscriptions.Left](): "LeftSubscription",
	reflect.TypeFor[view.Event]():         "HistoryEvent",
	reflect.TypeFor[view.Result]():        "DecisionResult",
}
