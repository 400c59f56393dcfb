// Package agents runs the agents of a postroomd: package llm/agent with the mail, the models and the ledger of the
// daemon, and the two kinds of actions that agents need. [RunAgent] starts one, for rules; [agent.Draft] is how one
// ends that leaves a draft.
package agents

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/drafting"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/gmail/mailindex"
	"github.com/postroom-go/postroom/gmail/mailstore"
	"github.com/postroom-go/postroom/gmail/outbox"
	"github.com/postroom-go/postroom/llm"
	"github.com/postroom-go/postroom/llm/agent"
	"github.com/postroom-go/postroom/queue"
	"github.com/postroom-go/postroom/safety"
)

// FilesFolder is the folder with the owner's files, in that of the profiles.
const FilesFolder = "files"

// Tools are the tools that profiles may have here.
func Tools() []string {
	return []string{agent.ReadThread, agent.SearchMail, agent.OwnAnswers, agent.ReadFiles, agent.ListLabels}
}

// outcomes are those that are carried out here: all but notes, which have nowhere to be kept.
func outcomes() []agent.Outcome {
	return slices.DeleteFunc(agent.Outcomes(), func(o agent.Outcome) bool { return o == agent.OutcomeNote })
}

// Read reads the profiles of a folder; an empty one has none. The faults have the path of the file and the line.
func Read(folder string, models []string) ([]agent.Profile, error) {
	if folder == "" {
		return []agent.Profile{}, nil
	}
	info, err := os.Stat(folder)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder", folder)
	}
	if err != nil {
		return nil, err
	}
	list, err := agent.ReadProfiles(os.DirFS(folder), agent.Offer{Models: models, Tools: Tools(), Outcomes: outcomes()})
	if err != nil {
		return nil, fmt.Errorf("the profiles in %s: %w", folder, err)
	}
	return append([]agent.Profile{}, list...), nil
}

// Config configures a [Service]. All is required but the functions.
type Config struct {
	Profiles []agent.Profile
	Folder   string // of the profiles; empty: there are none
	Models   map[string]llm.Client

	DB      queue.DB
	Queue   *queue.Queue
	Mail    *mailstore.Store
	Clients gmailapi.Clients
	Ledger  agent.Ledger
	Kinds   *postroom.Kinds

	Held    func(ctx context.Context) error
	Refused func(ctx context.Context, tx queue.Tx, r agent.Run) error
	Paused  func(ctx context.Context, tx queue.Tx, profile, reason string) error
	Made    func(ctx context.Context, tx queue.Tx, d drafting.MadeDraft) error // follows a draft

	// Material is what schedules tell of, and Told is told what they have told; see [agent.Config].
	Material func(ctx context.Context, inv agent.Invocation) (string, error)
	Told     func(ctx context.Context, tx queue.Tx, r agent.Run) error
}

// A Service runs the agents. [New] makes one.
type Service struct {
	*agent.Agent

	cfg    Config
	drafts *outbox.Drafts
}

// New makes a service.
func New(cfg Config) (*Service, error) {
	drafts, err := outbox.NewDrafts(outbox.DraftsConfig{Store: cfg.Mail, Clients: cfg.Clients})
	if err != nil {
		return nil, err
	}
	s := &Service{cfg: cfg, drafts: drafts}
	s.Agent, err = agent.New(agent.Config{DB: cfg.DB, Ledger: cfg.Ledger, Kinds: cfg.Kinds, Clients: cfg.Models,
		Profiles: cfg.Profiles, Mail: cfg.Mail, Labels: cfg.Mail, Correspondence: indexed{cfg.Mail}, Own: s.own,
		Folder: s.files, Held: cfg.Held, Refused: cfg.Refused, Paused: cfg.Paused, Material: cfg.Material, Told: cfg.Told,
		Spawned: func(ctx context.Context, tx queue.Tx, cause string, a postroom.Action) error {
			return safety.LinkActions(ctx, tx, cause, a.ID, safety.RelationSpawned)
		}})
	return s, err
}

// own returns the addresses of the mailbox, those among them that it may send from as well.
func (s *Service) own(ctx context.Context, accountID string) ([]string, error) {
	account, err := s.cfg.Mail.Account(ctx, accountID)
	if err != nil {
		return nil, err
	}
	aliases, err := s.drafts.Own(ctx, accountID)
	list := []string{account.Email}
	for _, a := range aliases {
		list = append(list, a.Email)
	}
	return list, gmailapi.Verdict(err)
}

// files returns the folder with the owner's files; empty if there is none.
func (s *Service) files(string) string {
	folder := filepath.Join(s.cfg.Folder, FilesFolder)
	if info, err := os.Stat(folder); s.cfg.Folder == "" || err != nil || !info.IsDir() {
		return ""
	}
	return folder
}

// An indexed mailbox finds the mail with one address in the index.
type indexed struct{ *mailstore.Store }

func (m indexed) Received(ctx context.Context, accountID, from, words string, limit int) ([]*postroom.Message, error) {
	return m.find(ctx, accountID, "from:"+from+" "+words, limit)
}

func (m indexed) Sent(ctx context.Context, accountID, to string, limit int) ([]*postroom.Message, error) {
	return m.find(ctx, accountID, "in:sent to:"+to, limit)
}

func (m indexed) find(ctx context.Context, accountID, query string, limit int) ([]*postroom.Message, error) {
	page, err := m.Search(ctx, accountID, mailindex.Search{Query: query, Limit: limit})
	return page.Messages, err
}

// Check returns an error for people if there is no such profile.
func (s *Service) Check(profile string) error {
	if err := checkProfile(s.cfg.Profiles, profile); err != nil {
		return usage.Wrap(err)
	}
	return nil
}

// Run enqueues a run that a person asks for, beside those that rules have started, and returns the id of the job.
func (s *Service) Run(ctx context.Context, msg *postroom.Message, profile string) (jobID string, err error) {
	if err := s.Check(profile); err != nil {
		return "", err
	}
	job := agent.NewJob(msg, profile)
	job.Key = queue.Key{}
	enqueued, err := s.cfg.Queue.Enqueue(ctx, job)
	return enqueued.ID, err
}

// Models are the names of the models that can repeat a run.
func (s *Service) Models() []string { return slices.Sorted(maps.Keys(s.cfg.Models)) }

// Replay repeats a run with a model by its name, see [agent.Agent.Replay].
func (s *Service) Replay(ctx context.Context, runID, model string) (agent.Run, error) {
	r, err := s.Agent.Run(ctx, runID)
	if err == nil {
		err = s.Check(r.Profile)
	}
	if err != nil {
		return agent.Run{}, err
	}
	if r.MessageID == "" {
		return agent.Run{}, usage.Wrap(agent.ErrNoMessage)
	}
	if s.cfg.Models[model] == nil {
		return agent.Run{}, usage.Errorf("there is no model %q; the models are %s", model,
			strings.Join(s.Models(), ", "))
	}
	return s.Agent.Replay(ctx, runID, model)
}

// Stop cancels a run in a transaction of its own.
func (s *Service) Stop(ctx context.Context, runID, why string) error {
	r, err := s.Agent.Run(ctx, runID)
	if err != nil {
		return err
	}
	err = s.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		return s.Cancel(ctx, tx, s.cfg.Queue, runID, why)
	})
	if errors.Is(err, postroom.ErrNotFound) {
		return usage.Errorf("the run has ended: it is %s", r.State)
	}
	return err
}

// Continue lets a paused profile run again.
func (s *Service) Continue(ctx context.Context, profile string) error {
	if err := s.Check(profile); err != nil {
		return err
	}
	err := s.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error { return s.Resume(ctx, tx, profile) })
	if errors.Is(err, postroom.ErrNotFound) {
		return usage.Errorf("the agent %s has never run", profile)
	}
	return err
}

// start enqueues the run of an action when the action completes: one for each message and profile.
func (s *Service) start(ctx context.Context, a postroom.Action) (done postroom.Outcome, err error) {
	job, err := s.jobOf(ctx, a)
	done.Commit = func(ctx context.Context, tx postroom.Tx) error {
		_, err := s.cfg.Queue.EnqueueTx(ctx, tx, job)
		return err
	}
	return done, err
}

// stop cancels the run of an action that is undone, unless it has ended: what it has proposed is an action of its own.
func (s *Service) stop(ctx context.Context, a postroom.Action) (postroom.Commit, error) {
	job, err := s.jobOf(ctx, a)
	if err != nil {
		return nil, err
	}
	profile, _ := a.Parameters.Text(paramProfile)
	runs, err := s.Runs(ctx, agent.Filter{AccountID: a.AccountID, MessageID: a.MessageID, Profile: profile, Limit: 100})
	return func(ctx context.Context, tx postroom.Tx) error {
		for _, r := range runs {
			if r.State != agent.StateRunning || r.JobID == "" {
				continue
			}
			err := s.Cancel(ctx, tx, s.cfg.Queue, r.ID, "the action that started it was undone")
			if err != nil && !errors.Is(err, postroom.ErrNotFound) {
				return err
			}
		}
		// One that has not begun has no run yet. Its key finds the job.
		found, err := s.cfg.Queue.EnqueueTx(ctx, tx, job)
		if err == nil {
			err = s.cfg.Queue.CancelTx(ctx, tx, found.ID)
		}
		if errors.Is(err, queue.ErrFinished) || errors.Is(err, queue.ErrJobNotFound) {
			return nil
		}
		return err
	}, err
}

func (s *Service) jobOf(ctx context.Context, a postroom.Action) (job queue.NewJob, err error) {
	profile, _ := a.Parameters.Text(paramProfile)
	msg, err := s.cfg.Mail.Message(ctx, a.AccountID, a.MessageID)
	if err != nil {
		return job, err
	}
	return agent.NewSpawnedJob(msg, profile, a.ID), nil
}
