package mailarchive

import (
	"context"
	"errors"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/examples/postroomd/usage"
	"github.com/postroom-go/postroom/gmail/archive"
	"github.com/postroom-go/postroom/gmail/mailstore"
)

// ErrOff reports that there is no archive.
var ErrOff = usage.Errorf("there is no archive: set archive.url to that of a folder, such as \"file:///srv/mail\"")

// maxFaults bounds the faults of a view.
const maxFaults = 50

// A View is the archive of a mailbox, as all doors show it.
type View struct {
	Mailbox  string `json:"mailbox"`
	Messages int    `json:"messages"` // that are copied
	Bytes    int64  `json:"bytes"`    // of their raw mail
	Gone     int    `json:"gone"`     // of messages, that Gmail no longer has
	// Removed counts messages whose copies archive.keep has removed, and RemovedGone those that Gmail no longer has.
	Removed     int `json:"removed"`
	RemovedGone int `json:"removed_gone"`

	Unreadable int  `json:"unreadable"` // that could not be read at Gmail; the next copy tries again
	Unverified int  `json:"unverified"` // that nobody has read since the index was made
	Complete   bool `json:"complete"`   // the mailbox was read to its end once
	Encrypted  bool `json:"encrypted"`
	// RanAt is when a copy came to its end, and VerifiedAt when a verification began.
	RanAt      time.Time `json:"ran_at,omitzero"`
	VerifiedAt time.Time `json:"verified_at,omitzero"`
	Head       string    `json:"head,omitempty"`  // of the chain of manifests
	Fault      string    `json:"fault,omitempty"` // what is wrong
	// Faults are the first messages whose copies are not right.
	Faults []Fault         `json:"faults"`
	Months []archive.Month `json:"months"` // by when Gmail received the mail, the latest first
}

// A Fault is a message whose copy is not right.
type Fault struct {
	MessageID string `json:"message_id"` // Gmail's
	Object    string `json:"object"`     // the file of the copy
	Reason    string `json:"reason"`
}

// ViewOf shows the archive of a mailbox, of which nothing may be copied yet.
func (s *Service) ViewOf(ctx context.Context, account mailstore.Account) (View, error) {
	if s == nil {
		return View{}, ErrOff
	}
	status, err := s.Status(ctx, account.ID)
	if errors.Is(err, postroom.ErrNotFound) {
		status, err = archive.Status{AccountID: account.ID, Encrypted: s.cfg.Archive.KeyFile != ""}, nil
	}
	if err != nil {
		return View{}, err
	}
	status.Email = account.Email
	return s.View(ctx, &status)
}

// View shows an archive.
func (s *Service) View(ctx context.Context, of *archive.Status) (v View, err error) {
	v = View{Mailbox: of.Email, Messages: of.Messages, Bytes: of.Bytes, Gone: of.Gone, Removed: of.Removed,
		RemovedGone: of.RemovedGone, Unreadable: of.Unreadable, Unverified: of.Unverified, Complete: of.Complete,
		Encrypted: of.Encrypted, RanAt: of.RanAt, VerifiedAt: of.VerifiedAt, Fault: FaultOf(of), Faults: []Fault{}}
	if of.Number > 0 {
		v.Head = Head(of)
	}
	faults, err := s.Faults(ctx, of.AccountID, maxFaults)
	if err != nil {
		return v, err
	}
	for _, f := range faults {
		v.Faults = append(v.Faults, Fault(f))
	}
	v.Months, err = s.Months(ctx, of.AccountID)
	return v, err
}
