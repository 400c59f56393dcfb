package drafting_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// proofs are the promises about drafts, their states and their jobs, each with the tests that prove it: file and name,
// from the root of the repository. docs/replies.md says them to people.
var proofs = []struct {
	promise string
	tests   []proof
}{
	// A draft.
	{"it is in the conversation, behind the message that it answers", []proof{
		{ofDrafts + "drafting_test.go", "TestTheLabelsAreTheButtons"},
	}},
	{"it goes to Reply-To or the sender", []proof{
		{ofDrafts + "drafting_test.go", "TestReplyToAtAnotherDomain"},
		{ofDrafts + "faults_test.go", "TestReplyToAtAProviderOfMany"},
		{ofDrafts + "threads_test.go", "TestThreads"},
	}},
	{"it goes to everybody only if a person asks", []proof{
		{ofDrafts + "recipients_test.go", "TestEverybodyOnlyIfAsked"},
		{ofDrafts + "threads_test.go", "TestThreads"},
	}},
	{"it quotes as Gmail does, and has the signature of its address", []proof{
		{"gmail/outbox/quote_test.go", "TestDraftIsSignedAndQuotes"},
		{ofDrafts + "recipients_test.go", "TestADraftIsSignedByTheAddressThatWasWrittenTo"},
	}},
	{"the model sees the thread", []proof{
		{ofCompose + "compose_test.go", "TestTheModelSeesTheThreadAndThePersonsWords"},
		{ofDrafts + "large_test.go", "TestAConversationOf200Messages"},
	}},
	{"it sees earlier mail with the same person, and with nobody else", []proof{
		{"gmail/senders/earlier_test.go", "TestEarlierMailIsOfThisCorrespondence"},
		{ofCompose + "compose_test.go", "TestEarlierMailAndSnippetsAreSourcesOfFacts"},
	}},
	{"it writes as the person does", []proof{
		{ofCompose + "voice_test.go", "TestTheVoiceIsShownAndIsNoFact"},
		{"gmail/senders/answers_test.go", "TestAnswersToTheSamePerson"},
		{"gmail/voice/voice_test.go", "TestAnEditedProfileIsTheOwners"},
	}},
	{"it is in the language of the sender, and invents nothing", []proof{
		{ofCompose + "compose_test.go", "TestTheModelIsToldTheRules"},
	}},
	{"rules leave a draft without a model, with variables", []proof{
		{"gmail/outbox/variables_test.go", "TestADraftHasWhatIsNotKnownMarked"},
	}},
	{"a fact that nobody has said is marked, one in another form is not", []proof{
		{ofCompose + "compose_test.go", "TestFactsThatNobodyHasSaidAreMarked"},
		{ofCompose + "facts_test.go", "TestFactsInAnotherForm"},
		{ofCompose + "facts_test.go", "TestFactsThatLookLikeKnownOnes"},
		{ofCompose + "facts_test.go", "TestAMarkedFactStaysInventedInARework"},
	}},
	{"a draft with a mark is not sent by us", []proof{
		{ofDrafts + "send_test.go", "TestADraftIsNotSentUnseen"},
	}},
	{"it has nothing of another correspondent", []proof{
		{ofCompose + "compose_test.go", "TestEarlierAnswersShowTheWayToWrite"},
		{"gmail/voice/voice_test.go", "TestNothingOfOthersIsLearned"},
		{"gmail/senders/earlier_test.go", "TestEarlierMailIsOfThisCorrespondence"},
	}},
	{"so many are begun on a day", []proof{
		{ofDrafts + "needed_test.go", "TestSoManyDraftsADay"},
		{ofDrafts + "nudge_test.go", "TestWhereNoReminderIsWritten"},
	}},
	{"only where the model is sure", []proof{
		{ofDecide + "reply_test.go", "TestReplyOfAModelThatIsNotSureIsNone"},
	}},
	{"never for lists, bulk, no-reply and automatic mail", []proof{
		{ofDecide + "reply_test.go", "TestAutomationNeedsNoAnswer"},
		{ofDaemon + "triage_test.go", "TestDaemonWritesADraftForMailThatNeedsAnAnswer"},
	}},
	{"nor for a sender of ten mails who was never answered", []proof{
		{"examples/postroomd/app/triage_test.go", "TestWhoseMailMayNeedAnAnswer"},
	}},
	{"whether an answer is needed costs no further call", []proof{
		{ofDecide + "reply_test.go", "TestReplyIsAnsweredInTheCallThatDecides"},
	}},

	// The jobs.
	{"sync: a push becomes a job", []proof{
		{"gmail/push_test.go", "TestPushBecomesAJob"},
		{"gmail/pipeline/push_test.go", "TestAPushIsDecidedAbout"},
	}},
	{"sync: each account has its schedules, the watch among them", []proof{
		{"gmail/pipeline/pipeline_test.go", "TestRemoveAccountLeavesNothing"},
		{"gmail/pipeline/pipeline_test.go", "TestNewMailIsPolledEachMinute"},
	}},
	{"sync: an expired history loses nothing", []proof{
		{"gmail/history_test.go", "TestHistoryGapLosesNothing"},
	}},
	{"sync: the whole mailbox is compared", []proof{
		{"gmail/reconcile_test.go", "TestCheckMendsWhatIsStoredWrongly"},
	}},
	{"classify: rules, then the model; a failing model loses no mail", []proof{
		{ofDaemon + "modelfails_test.go", "TestNoMailIsLostWhileAModelFails"},
	}},
	{"classify: mail that needs an answer has a job draft", []proof{
		{ofDrafts + "needed_test.go", "TestADraftForMailThatNeedsAnAnswer"},
	}},
	{"classify: mail that needs none is skipped", []proof{
		{ofReplies + "model_test.go", "TestAnyOrderOfEventsIsThatOfTheModel"},
	}},
	{"draft: it works for a pending reply of its turn alone", []proof{
		{ofReplies + "replies_test.go", "TestANewerTurnRefusesTheResultOfAnOlder"},
		{ofDrafts + "drafting_test.go", "TestALabelTakenOffWins"},
	}},
	{"draft: the writer is asked once, whatever fails", []proof{
		{ofDrafts + "drafting_test.go", "TestFaultsAskOnce"},
	}},
	{"draft: what cannot be written is the person's", []proof{
		{ofDrafts + "drafting_test.go", "TestAPersonWritesWhatTheWriterDoesNot"},
	}},
	{"cleanup done: the thread is archived, and the labels go", []proof{
		{ofDrafts + "drafting_test.go", "TestDoneArchivesWhatWasSeen"},
	}},
	{"cleanup check_sent: a draft that is gone was sent or deleted", []proof{
		{ofDrafts + "drafting_test.go", "TestWhatAPersonDoesWithTheDraft"},
		{ofDrafts + "drafting_test.go", "TestACheckFindsWhatNobodyReports"},
	}},
	{"cleanup withdraw: what reminds of an answered message is deleted", []proof{
		{ofDrafts + "nudge_test.go", "TestAnAnswerToAReminderIsAnswered"},
	}},
	{"rework: the instruction is read from the draft", []proof{
		{ofDrafts + "drafting_test.go", "TestAnEditedTextIsReworked"},
		{ofDrafts + "faults_test.go", "TestAnInstructionAboveASignature"},
	}},
	{"rework: three times, then it is the person's", []proof{
		{ofDrafts + "drafting_test.go", "TestTheFourthReworkIsAPersons"},
		{ofReplies + "replies_test.go", "TestTheFourthReworkIsAPersons"},
	}},
	{"manual_draft: the label asks, and makes the reply", []proof{
		{ofDrafts + "drafting_test.go", "TestTheLabelsAreTheButtons"},
		{ofDaemon + "replies_test.go", "TestDaemonWritesADraftForALabel"},
	}},
	{"manual_draft: nothing where a draft is", []proof{
		{ofDrafts + "faults_test.go", "TestALabelThatAsksForNothing"},
	}},
	{"follow_up: the thread comes back, with a reminder if wanted", []proof{
		{ofDrafts + "followup_test.go", "TestAThreadWithoutAnAnswerComesBack"},
		{ofDrafts + "nudge_test.go", "TestAReminderLiesReady"},
	}},
	{"follow_up: their answer ends it", []proof{
		{ofDrafts + "followup_test.go", "TestWhatEndsTheWaiting"},
		{ofDrafts + "nudge_test.go", "TestAnAnswerEndsAReminder"},
	}},
	{"agent_process: rules start it, its payload names the profile", []proof{
		{ofDaemon + "agents_test.go", "TestARuleRunsAnAgent"},
		{ofAgent + "agent_test.go", "TestTheJobIsThatOfTheSeed"},
	}},
	{"agent_process: it ends with a draft or a person, and its run is on record", []proof{
		{ofAgent + "agent_test.go", "TestARunReadsAndEndsWithADraft"},
		{ofDaemon + "agents_test.go", "TestAnAgentEscalates"},
		{ofAgent + "runs_test.go", "TestRunsAreListedAndPruned"},
	}},
	{"agent_process: a message that is gone ends it", []proof{
		{ofAgent + "bounds_test.go", "TestAJobOfWhatIsGone"},
	}},

	// What starts them.
	{"the labels Done, Rework and Needs Response", []proof{
		{ofDrafts + "drafting_test.go", "TestWhichLabelsCount"},
	}},
	{"a label that came late, twice or in pages counts once", []proof{
		{ofDrafts + "drafting_test.go", "TestALatePressIsNoOther"},
		{ofDrafts + "drafting_test.go", "TestALabelOnAConversationIsOnePress"},
	}},
	{"a message that is deleted", []proof{
		{"gmail/events_test.go", "TestHistoryReportsWhatAPersonDoes"},
		{ofDrafts + "drafting_test.go", "TestWhatAPersonDoesWithTheDraft"},
	}},
	{"a person's word elsewhere", []proof{
		{ofDrafts + "person_test.go", "TestAWordStartsARework"},
		{ofDrafts + "person_test.go", "TestAWordDiscards"},
	}},

	// The states.
	{"pending → drafted → rework_requested → drafted → sent", []proof{
		{ofDrafts + "drafting_test.go", "TestTheLabelsAreTheButtons"},
	}},
	{"any → archived", []proof{
		{ofReplies + "model_test.go", "TestAnyOrderOfEventsIsThatOfTheModel"},
		{ofDrafts + "drafting_test.go", "TestDoneArchivesWhatWasSeen"},
	}},
	{"any → skipped", []proof{
		{ofReplies + "model_test.go", "TestAnyOrderOfEventsIsThatOfTheModel"},
		{ofDrafts + "drafting_test.go", "TestTheFourthReworkIsAPersons"},
	}},
	{"an ended reply begins anew", []proof{
		{ofReplies + "replies_test.go", "TestANewNeedHasADraftOfItsOwn"},
	}},
	{"a change, its history and its job are one", []proof{
		{ofReplies + "replies_test.go", "TestAChangeItsHistoryAndItsJobAreOne"},
		{ofReplies + "crash_test.go", "TestALifeEndsTheSameWhereverAProcessDies"},
	}},
	{"whatever a person does, and wherever processes die", []proof{
		{ofDrafts + "random_test.go", "TestAnyOrderOfAPersonsActions"},
		{ofDrafts + "kill_test.go", "TestAnyOrderOfAPersonsActionsWithKills"},
	}},

	// The queue.
	{"enqueue returns an id, and a key keeps a second job away", []proof{
		{ofQueue + "key_test.go", "TestKeyConflictShowsTheDifference"},
	}},
	{"a claim is of one worker, the oldest first", []proof{
		{ofQueue + "traps_test.go", "TestTrapClaimThatDeliversTwice"},
		{ofQueue + "sqlite/conformance_test.go", "TestDriverOnFile"},
	}},
	{"completed with its time", []proof{
		{ofQueue + "retry_test.go", "TestResultIsStored"},
		{ofQueue + "retry_test.go", "TestCompleteIsOneTransaction"},
	}},
	{"a failure is tried again until the attempts are spent, and keeps its error", []proof{
		{ofQueue + "retry_test.go", "TestFailuresAreRetriedWithBackoffUntilMaxAttempts"},
	}},
	{"so many workers", []proof{
		{ofQueue + "dispatcher_test.go", "TestDispatcherRunsAtMostWorkersAtOnce"},
	}},
	{"a shutdown lets handlers finish", []proof{
		{ofQueue + "shutdown_test.go", "TestShutdownLetsHandlersFinish"},
	}},
	{"a crash of a worker is survived", []proof{
		{ofQueue + "lease_test.go", "TestJobsOfADeadWorkerAreRescuedWithinTwoLeases"},
	}},
	{"ended jobs are kept for seven days", []proof{
		{ofQueue + "retention_test.go", "TestPruneKeepsSevenDaysByDefault"},
	}},

	// Figures.
	{"drafts are counted by what becomes of them, with the time to the answer", []proof{
		{ofDrafts + "metrics_test.go", "TestDraftsAreCounted"},
	}},
}

type proof struct{ file, test string }

const (
	ofDrafts  = "gmail/drafting/"
	ofReplies = "gmail/replies/"
	ofCompose = "llm/compose/"
	ofDecide  = "llm/decide/"
	ofAgent   = "llm/agent/"
	ofDaemon  = "examples/postroomd/cli/"
	ofQueue   = "queue/"
)

// A test that is renamed or removed takes its promise along, unless this says where it went.
func TestEachPromiseHasATest(t *testing.T) {
	files := make(map[string]map[string]bool)
	promises := make(map[string]bool)
	for _, p := range proofs {
		require.False(t, promises[p.promise], p.promise)
		promises[p.promise] = true
		require.NotEmpty(t, p.tests, p.promise)
		for _, is := range p.tests {
			if files[is.file] == nil {
				files[is.file] = functionsOf(t, is.file)
			}
			require.True(t, files[is.file][is.test], "%s: there is no %s in %s", p.promise, is.test, is.file)
		}
	}
}

func functionsOf(t *testing.T, file string) map[string]bool {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../..", file), nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	names := make(map[string]bool)
	for _, d := range f.Decls {
		if fn, is := d.(*ast.FuncDecl); is && fn.Recv == nil {
			names[fn.Name.Name] = true
		}
	}
	return names
}
