package enrich

import (
	"context"
	"slices"

	"github.com/postroom-go/postroom"
)

// Facts returns what is known of a message without a model and without its provider; a part whose Told is zero is open.
// The error is that of a function of the configuration.
func (s *Service) Facts(ctx context.Context, msg *postroom.Message) (Facts, error) {
	f, _, err := s.tell(ctx, msg)
	return f, err
}

// tell returns what is known of a message without a model and without the provider: what the host knows, and what its
// form tells. It is the same whenever it is asked, as long as the host and the sent mail say the same.
func (s *Service) tell(ctx context.Context, msg *postroom.Message) (f Facts, seen *sight, err error) {
	if s.cfg.First != nil {
		if f, err = s.cfg.First(ctx, msg); err != nil {
			return f, nil, err
		}
		if err := s.cfg.checkFirst(&f); err != nil {
			return f, nil, err
		}
	}
	if seen, err = s.look(ctx, msg); err != nil {
		return f, nil, err
	}
	var byForm Facts
	s.categorize(&byForm, seen)
	s.weigh(&byForm, seen)
	if told := eventless(ctx, seen); told.By != "" {
		byForm.CalendarTold = told
	}
	f.merge(byForm)
	return f, seen, nil
}

// categorize finds the category to which the form of a message belongs.
func (s *Service) categorize(f *Facts, seen *sight) {
	if seen.form == "" {
		return
	}
	i := slices.IndexFunc(s.cfg.Categories, func(c Category) bool { return slices.Contains(c.Forms, seen.form) })
	if i >= 0 {
		f.Category, f.CategoryTold = s.cfg.Categories[i].Name, Told{ByForm, seen.confidence, seen.reasoning}
	}
}

// scores are the importance of the forms of mail that asks its reader for nothing. Other forms are open.
var scores = map[Form]float64{
	FormPromotion: 0.05, FormNewsletter: 0.1, FormSocial: 0.15, FormDiscussion: 0.2, FormReceipt: 0.4,
	FormNotification: 0.4, FormReport: 0.5, FormInvitation: 0.6,
}

// markedImportant is what Gmail's mark adds to a score: it has learned from the owner.
const markedImportant = 0.2

// weigh finds the importance of mail of a form. People's mail is open, since it may ask for something; so are a
// program's that may be urgent, and what a list sends to the owner by name.
func (s *Service) weigh(f *Facts, seen *sight) {
	score, known := scores[seen.form]
	urgent := seen.form == FormNotification || seen.form == FormReceipt
	switch {
	case !known, urgent && urgentWords.MatchString(seen.msg.Subject):
		return
	case seen.form == FormDiscussion && seen.msg.HasLabel(postroom.LabelImportant):
		return
	}
	why := "mail of the form " + string(seen.form)
	if seen.msg.HasLabel(postroom.LabelImportant) {
		score += markedImportant
		why += ", which Gmail has marked as important"
	}
	f.Score, f.Level, f.ImportanceTold = score, s.cfg.level(score), Told{ByForm, 0.85, why}
}

// eventless tells that a message names no event: by its form, or since no time is in its text. The events of a calendar
// are read later.
func eventless(ctx context.Context, seen *sight) Told {
	switch seen.form {
	case FormInvitation:
		return Told{}
	case FormReport, FormPromotion, FormNewsletter, FormSocial:
		return Told{ByForm, 0.9, "mail of the form " + string(seen.form)}
	case FormReceipt, FormNotification, FormDiscussion:
		if !appointmentWords.MatchString(seen.msg.Subject) {
			return Told{ByForm, 0.85, "mail of the form " + string(seen.form) + " without a word about an appointment"}
		}
	case FormColleague, FormCorrespondent: // people make appointments
	}
	if !mentionsTime(textOf(ctx, seen.msg)) {
		return Told{ByForm, 0.85, "no day and no time is in its text"}
	}
	return Told{}
}

// unsubscribe returns the way to leave the list of a message that needs the least of the owner.
func (s *sight) unsubscribe() Unsubscribe {
	u := &s.list.Unsubscribe
	switch {
	case u.OneClick != nil:
		return Unsubscribe{"one_click", bounded(u.OneClick.String(), maxURL)}
	case len(u.Web) > 0:
		return Unsubscribe{"web", bounded(u.Web[0].String(), maxURL)}
	case len(u.Mail) > 0 && len(u.Mail[0].To) > 0:
		return Unsubscribe{"mail", bounded("mailto:"+u.Mail[0].To[0], maxURL)}
	}
	return Unsubscribe{}
}

// maxURL bounds an address that is stored. A longer one is cut, and is still told from others; package
// gmail/unsubscribe reads it from the message.
const maxURL = 2000
