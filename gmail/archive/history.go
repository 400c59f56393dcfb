package archive

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/gmail/gmailapi"
	"github.com/postroom-go/postroom/internal/dbquery"
)

// readHistory archives a page of the history: messages that came, changes of labels, and deletions. The cursor moves
// when all of the page is archived. The last step of a run archives the records.
func (s *step) readHistory(ctx context.Context, first bool) error {
	page, err := s.client.ListHistory(ctx, uint64(s.at.HistoryID), "")
	for err == nil && len(page.Events) == 0 && page.NextPageToken != "" {
		page, err = s.client.ListHistory(ctx, uint64(s.at.HistoryID), page.NextPageToken)
	}
	if gmailapi.ClassOf(err) == gmailapi.ClassHistoryExpired {
		s.then(sqlForgetCursor, s.account.ID)
		return nil
	}
	if err != nil {
		return err
	}
	m := &manifest{}
	fresh, err := s.changes(ctx, page.Events, m)
	if err != nil {
		return err
	}
	if first {
		again, err := s.again(ctx)
		if err != nil {
			return err
		}
		fresh = append(fresh, slices.DeleteFunc(again, func(id string) bool { return slices.Contains(fresh, id) })...)
	}
	if err := s.fetch(ctx, fresh, m); err != nil {
		return err
	}
	to := page.HistoryID
	if page.NextPageToken != "" {
		to = page.Events[len(page.Events)-1].HistoryID
	}
	s.ended = page.NextPageToken == "" && !s.partial
	if s.ended {
		if err := s.addRecords(ctx, m); err != nil {
			return err
		}
	}
	if !s.partial && int64(to) > s.at.HistoryID {
		if len(m.lines) > 0 {
			m.HistoryID = to
		}
		s.then(sqlMoveHistory, int64(to), s.account.ID)
	}
	return s.write(ctx, m)
}

// again returns messages that could not be read in an earlier run, and those whose object was found damaged.
func (s *step) again(ctx context.Context) (ids []string, err error) {
	db := s.cfg.DB.Reader()
	if err := dbquery.Select(ctx, db, &ids, sqlUnarchived, s.account.ID, sliceMessages); err != nil {
		return nil, fmt.Errorf("archive: account %s: %w", s.account.ID, err)
	}
	var faulty []messageRow
	if err := dbquery.Select(ctx, db, &faulty, sqlFaults, s.account.ID, sliceMessages); err != nil {
		return nil, fmt.Errorf("archive: account %s: %w", s.account.ID, err)
	}
	for i := range faulty {
		if faulty[i].State != Gone {
			ids = append(ids, faulty[i].MessageID)
		}
	}
	return ids, nil
}

// changes adds the new states of archived messages to the manifest, and returns the messages that are to be read.
func (s *step) changes(ctx context.Context, events []gmailapi.HistoryEvent, m *manifest) (fresh []string, err error) {
	of := map[string][]gmailapi.HistoryEvent{}
	var ids []string
	for _, e := range events {
		if of[e.MessageID] == nil {
			ids = append(ids, e.MessageID)
		}
		of[e.MessageID] = append(of[e.MessageID], e)
	}
	known, err := s.known(ctx, s.account.ID, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		deleted := of[id][len(of[id])-1].Kind == gmailapi.MessageDeleted
		before, ok := known[id]
		switch {
		case !ok && !deleted:
			fresh = append(fresh, id)
		case ok:
			after, err := s.after(ctx, before, of[id], deleted)
			if err != nil {
				return nil, err
			}
			if after.State != before.State || !slices.Equal(after.Labels, before.Labels) {
				m.lines = append(m.lines, line{Mail: &after})
			}
		}
	}
	return fresh, nil
}

// after returns the state of a message after changes.
func (s *step) after(ctx context.Context, e Entry, events []gmailapi.HistoryEvent, deleted bool) (Entry, error) {
	if deleted {
		e.State = Gone // with the labels that it had
		return e, nil
	}
	if err := s.readLabels(ctx); err != nil {
		return e, err
	}
	names := make(map[string]string, len(e.Labels))
	var ids []string
	for _, l := range e.Labels {
		ids, names[l.ID] = append(ids, l.ID), l.Name
	}
	labels := postroom.NewSnapshot(ids)
	for _, event := range events {
		if event.Kind != gmailapi.MessageAdded {
			labels = labels.Apply(event.Change())
		}
	}
	maps.Copy(names, s.names) // as they are named now
	e.Labels = labelsOf(labels.LabelIDs, names)
	e.State = stateOf(e.Labels)
	return e, nil
}

// addRecords adds the records that are not archived to the manifest; the run goes on until there are none.
func (s *step) addRecords(ctx context.Context, m *manifest) error {
	if s.cfg.Records == nil {
		return nil
	}
	records, next, err := s.cfg.Records.After(ctx, s.account.ID, s.at.Records, sliceRecords)
	if err != nil {
		return fmt.Errorf("archive: records of account %s: %w", s.account.ID, err)
	}
	for _, r := range records {
		m.lines = append(m.lines, line{Record: r})
	}
	if len(records) > 0 {
		m.Records = next
	}
	s.ended = len(records) == 0
	return nil
}
