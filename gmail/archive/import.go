package archive

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/dbtime"
	"github.com/postroom-go/postroom/queue"
)

// An Outcome is what became of a message in a restore.
type Outcome string

// The outcomes of a message.
const (
	Restored Outcome = "restored" // it was put into the mailbox
	Missing  Outcome = "missing"  // it would have been: this was a dry run
	There    Outcome = "present"  // the mailbox has it
	Faulty   Outcome = "faulty"   // its object is not right, or Gmail refuses it
	Undone   Outcome = "undone"   // it was restored, and moved to the trash since

	importing Outcome = "importing" // it is being put into the mailbox, or was by a process that died
)

type restoredRow struct {
	RestoreID    string  `db:"restore_id"`
	MessageID    string  `db:"message_id"`
	AccountID    string  `db:"account_id"`
	RFCMessageID string  `db:"rfc_message_id"`
	Size         int64   `db:"size"`
	Outcome      Outcome `db:"outcome"`
	NewID        string  `db:"new_id"`
	Since        int64   `db:"since_history"`
	Detail       string  `db:"detail"`
}

// An importer puts archived messages into one mailbox.
type importer struct {
	*Archive
	id        string // of the restore
	source    string // the account of the archive
	accountID string // the account of the mailbox
	label     string // the name of a label that each gets; empty: none
	dryRun    bool
	client    *gmailapi.Client
	labels    []postroom.Label // of the mailbox; nil before they are asked for
}

// bring puts a message into the mailbox unless it has it. After a crash it finds what an earlier call has imported.
func (im *importer) bring(ctx context.Context, e *Entry) (row restoredRow, err error) {
	err = dbquery.Get(ctx, im.cfg.DB.Reader(), &row, sqlRestored, im.id, e.MessageID)
	begun := err == nil && row.Outcome == importing
	switch {
	case err == nil && !begun:
		return row, nil
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return row, fmt.Errorf("archive: restore %s: %w", im.id, err)
	case !begun:
		row = restoredRow{RestoreID: im.id, MessageID: e.MessageID, AccountID: im.accountID, RFCMessageID: e.RFCMessageID,
			Size: e.Size}
	}
	raw, err := im.readMail(ctx, im.source, e.SHA256, e.Size)
	if isFault(err) {
		return im.end(ctx, row, Faulty, "", err.Error())
	}
	if err != nil {
		return row, err
	}
	there, inTrash, err := im.find(ctx, e, raw, uint64(row.Since))
	thrown := inTrash && e.State == Gone // as by the undo of an earlier restore
	switch {
	case err != nil:
		return row, err
	case there != "" && begun && !thrown:
		return im.end(ctx, row, Restored, there, "")
	case there != "" && !thrown:
		return im.end(ctx, row, There, there, "")
	case im.dryRun:
		return im.end(ctx, row, Missing, "", "")
	}
	return im.put(ctx, row, e, raw, there)
}

// put imports a message that the mailbox does not have, or takes it out of the trash. It records that before, with the
// history id to look after.
func (im *importer) put(ctx context.Context, row restoredRow, e *Entry, raw []byte, thrown string) (restoredRow,
	error) {
	labels, err := im.labelIDs(ctx, e)
	if err != nil {
		return row, err
	}
	if row.Outcome != importing {
		profile, err := im.client.Profile(ctx)
		if err != nil {
			return row, err
		}
		row.Since = int64(profile.HistoryID)
		if row, err = im.end(ctx, row, importing, "", ""); err != nil {
			return row, err
		}
	}
	if thrown != "" {
		// The labels come first: once it is out of the trash, another attempt finds that it is there.
		if _, err = im.client.Modify(ctx, thrown, postroom.LabelChange{Add: labels}); err == nil {
			_, err = im.client.Untrash(ctx, thrown)
		}
		if err != nil {
			return row, err
		}
		return im.end(ctx, row, Restored, thrown, "")
	}
	ref, err := im.client.Import(ctx, raw, labels...)
	if gmailapi.ClassOf(err) == gmailapi.ClassInvalid {
		return im.end(ctx, row, Faulty, "", err.Error())
	}
	if err != nil {
		return row, err
	}
	return im.end(ctx, row, Restored, ref.ID, "")
}

// end records what became of a message, at once: what was imported is.
func (im *importer) end(ctx context.Context, row restoredRow, outcome Outcome, newID, detail string) (restoredRow,
	error) {
	row.Outcome, row.NewID, row.Detail = outcome, newID, detail
	err := im.saveRestored(context.WithoutCancel(ctx), row)
	return row, err
}

func (a *Archive) saveRestored(ctx context.Context, r restoredRow) error {
	err := a.cfg.DB.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := dbquery.Exec(ctx, tx, sqlSaveRestored, r.RestoreID, r.MessageID, r.AccountID, r.RFCMessageID, r.Size,
			string(r.Outcome), r.NewID, r.Since, r.Detail, dbtime.Of(queue.Now(tx)))
		return err
	})
	if err != nil {
		err = fmt.Errorf("archive: restore %s: message %s: %w", r.RestoreID, r.MessageID, err)
	}
	return err
}

// find returns Gmail's id of the message in the mailbox, and whether it is in the trash; empty if it is not there.
func (im *importer) find(ctx context.Context, e *Entry, raw []byte, since uint64) (id string, inTrash bool, err error) {
	var ids []string
	if err := dbquery.Select(ctx, im.cfg.DB.Reader(), &ids, sqlSameContent, im.accountID, e.SHA256,
		e.MessageID); err != nil {
		return "", false, fmt.Errorf("archive: restore %s: %w", im.id, err)
	}
	if im.source == im.accountID && e.State != Gone {
		ids = append([]string{e.MessageID}, ids...)
	}
	for _, id := range ids {
		state, err := im.client.State(ctx, id)
		if err == nil || !errors.Is(err, postroom.ErrMessageGone) {
			return id, state.Snapshot.Has(postroom.LabelTrash), err
		}
	}
	candidates, err := im.client.FindImported(ctx, e.RFCMessageID, since)
	if err != nil {
		return "", false, err
	}
	for _, candidate := range candidates {
		m, err := im.client.GetRaw(ctx, candidate.ID)
		if errors.Is(err, postroom.ErrMessageGone) {
			continue
		}
		if err != nil {
			return "", false, err
		}
		// QUIRK: Gmail puts a Received field before a message that is imported.
		if content, err := m.Bytes(); err == nil && bytes.HasSuffix(content, raw) {
			return candidate.ID, slices.Contains(m.LabelIDs, postroom.LabelTrash), nil
		}
	}
	return "", false, nil
}

// kept are the system labels that an import can set and that say what a person has done. SENT and DRAFT cannot be set.
// A message is not put back into the trash, from which it would vanish, or into spam.
var kept = []string{postroom.LabelInbox, postroom.LabelUnread, postroom.LabelStarred, postroom.LabelImportant}

// labelIDs returns the labels of a message in this mailbox: those of people by their names, made if they are missing.
func (im *importer) labelIDs(ctx context.Context, e *Entry) (ids []string, err error) {
	if im.labels == nil {
		if im.labels, err = im.client.ListLabels(ctx); err != nil {
			return nil, err
		}
	}
	wanted := e.Labels
	if im.label != "" {
		wanted = append(slices.Clone(wanted), Label{Name: im.label})
	}
	for _, l := range wanted {
		switch {
		case slices.Contains(kept, l.ID), strings.HasPrefix(l.ID, "CATEGORY_") && im.has(l.ID):
			ids = append(ids, l.ID)
			continue
		case l.ID != "" && l.ID == l.Name && strings.ToUpper(l.ID) == l.ID: // one of Gmail's own
			continue
		}
		id, err := im.labelID(ctx, l.Name)
		if err != nil {
			return nil, err
		}
		if id != "" {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func (im *importer) has(id string) bool {
	return slices.ContainsFunc(im.labels, func(l postroom.Label) bool { return l.ID == id })
}

// labelID returns the label of a name; empty if the name can be none, which keeps no message from coming back.
func (im *importer) labelID(ctx context.Context, name string) (string, error) {
	for _, l := range im.labels {
		if l.Type == postroom.LabelUser && gmailapi.SameLabelName(l.Name, name) {
			return l.ID, nil
		}
	}
	made, err := im.client.CreateLabel(ctx, name)
	if gmailapi.ClassOf(err) == gmailapi.ClassInvalid {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	im.labels = append(im.labels, made)
	return made.ID, nil
}

// While a message is put into the mailbox, one with its Message-ID may be that one: whether it is will be known when
// the import has ended. If its process has died, others wait no longer than this.
const (
	importTime  = 10 * time.Minute
	importPause = 5 * time.Second
)

// IsRestored reports whether a message in a mailbox is one that a restore has put there. A host hands such a message on
// to nobody: what was decided about it before it was lost was decided. The error is a [queue.Defer] for at most ten
// minutes while a restore puts a message with the same Message-ID there.
func (a *Archive) IsRestored(ctx context.Context, m *postroom.Message) (bool, error) {
	db := a.cfg.DB.Reader()
	var restored, trying int
	// In this order: an import that ends in between is seen.
	err := dbquery.Get(ctx, db, &trying, sqlIsImporting, m.AccountID, m.MessageID, dbtime.Of(time.Now().Add(-importTime)))
	if err == nil {
		err = dbquery.Get(ctx, db, &restored, sqlIsRestored, m.AccountID, m.ProviderID)
	}
	if err != nil {
		return false, fmt.Errorf("archive: restored messages of account %s: %w", m.AccountID, err)
	}
	if restored == 0 && trying > 0 {
		err = fmt.Errorf("archive: message %s may be one that is being restored", m.ProviderID)
		return false, queue.Defer(err, importPause)
	}
	return restored > 0, nil
}
