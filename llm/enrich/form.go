package enrich

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/authres"
)

// A Form is what kind of mail a message is by what can be seen without understanding it: header fields, Gmail's
// categories, a few words of the subject, and who has written to whom before. Senders choose most of that, so a form
// says what mail wants to be, and is no reason to trust it.
type Form string

// The forms. A message that a person seems to have written, and whom the owner does not know, has none.
const (
	FormReport        Form = "report"        // about the delivery or the reading of other mail
	FormInvitation    Form = "invitation"    // a calendar is part of it
	FormPromotion     Form = "promotion"     // bulk mail that advertises
	FormSocial        Form = "social"        // Gmail's category
	FormDiscussion    Form = "discussion"    // of a mailing list to which its readers write
	FormReceipt       Form = "receipt"       // a program has sent it, about an order or a payment
	FormNewsletter    Form = "newsletter"    // other bulk mail
	FormNotification  Form = "notification"  // other mail of programs
	FormColleague     Form = "colleague"     // a person of the owner's organization has written it, verified
	FormCorrespondent Form = "correspondent" // the owner has written to its sender, who is verified
)

// Forms returns all forms.
func Forms() []Form {
	return []Form{FormReport, FormInvitation, FormPromotion, FormSocial, FormDiscussion, FormReceipt, FormNewsletter,
		FormNotification, FormColleague, FormCorrespondent}
}

// Gmail's categories, which are labels.
const (
	tabPromotions = "CATEGORY_PROMOTIONS"
	tabSocial     = "CATEGORY_SOCIAL"
	tabForums     = "CATEGORY_FORUMS"
	tabUpdates    = "CATEGORY_UPDATES"
)

// Words of subjects, in the languages of most mail. Where they are missing, a model is asked, or the mail has another
// form of programs' mail.
var (
	receiptWords = regexp.MustCompile(`(?i)\b(receipts?|invoices?|orders?|payments?|purchase[ds]?|shipp(ed|ing)|deliver(y|ed)|parcels?|packages?|shipments?|tracking|refund(ed)?|statement|bill(ing)?|bookings?|reservations?|itinerary|e-?tickets?` +
		`|\w*rechnung(en)?|bestell(ung|bestätigung)|auftrag(sbestätigung)?|zahlung(seingang)?|quittung|beleg|lieferung|versand(t|bestätigung)?|sendung|paket|buchung(sbestätigung)?|fahrkarte` +
		`|factures?|(?:bon de )?commande|reçus?|paiements?|livraison|facturas?|pedidos?|recibos?|pagos?|envío|fattur[ae]|ordin[ei]|ricevut[ae]|pagament[oi]|spedizione)\b`)
	promotionWords = regexp.MustCompile(`(?i)(\d\s?%|\b(sales?|discounts?|deals?|offers?|coupons?|promo(tion)?s?|save|free shipping|last chance|black friday|exclusive` +
		`|rabatte?|angebote?|gutscheine?|sparen|gratis|kostenlos|soldes|remises?|offres?|ofertas?|descuentos?|sconti?|offert[ae])\b)`)
	// urgentWords are those of programs' mail that may need its reader today, and of mail that pretends so.
	urgentWords = regexp.MustCompile(`(?i)\b(security|sign-?ins?|log-?ins?|passwords?|verif(y|ication)|suspend(ed)?|fraud|unusual|alerts?|expir(es?|ed|ing)|overdue|fail(ed|ure)?|action required|urgent|important|reminder|deadline|cancell?ed` +
		`|sicherheit\w*|anmeld\w*|passwor[td]e?r?|bestätig\w*|gesperrt|läuft ab|fällig|mahnung|fehlgeschlagen|dringend|erinnerung|frist|storniert` +
		`|sécurité|mot de passe|urgente?|rappel|échéance|annulé|seguridad|contraseña|recordatorio|sicurezza|scadenza)\b`)
	appointmentWords = regexp.MustCompile(`(?i)\b(appointments?|meetings?|bookings?|reservations?|flights?|itinerary|e-?tickets?|webinars?|check-?in|interview` +
		`|termin\w*|buchung\w*|flug\w*|fahrkarte|rendez-vous|réservation|cita|reserva|appuntamento|prenotazione)\b`)
)

// A sight is a message and what was seen of it.
type sight struct {
	msg    *postroom.Message
	header mime.Header
	list   mime.List
	form   Form
	// confidence and reasoning are those of the form.
	confidence float64
	reasoning  string
}

func (s *sight) is(form Form, confidence float64, reasoning string) {
	s.form, s.confidence, s.reasoning = form, confidence, reasoning
}

// look finds the form of a message.
func (s *Service) look(ctx context.Context, msg *postroom.Message) (*sight, error) {
	seen := &sight{msg: msg, header: make(mime.Header, len(msg.Headers))}
	for i, f := range msg.Headers {
		seen.header[i] = mime.Field{Name: f.Name, Value: f.Value}
	}
	seen.list = seen.header.List()
	switch {
	case seen.isAnswer():
		seen.is(FormNotification, 0.9, "a program has answered")
	case seen.isReport():
		seen.is(FormReport, 0.95, "it reports about the delivery or the reading of other mail")
	case seen.hasCalendar():
		seen.is(FormInvitation, 0.95, "it carries a calendar")
	default:
		seen.byTab()
	}
	if seen.form == "" {
		seen.byList()
	}
	if seen.form == "" {
		seen.byProgram()
	}
	if seen.form != "" {
		return seen, nil
	}
	return seen, s.byPerson(ctx, seen)
}

// isAnswer reports whether a program has answered for a person, as while that is away.
func (s *sight) isAnswer() bool { return s.hasSign(mime.AutoReply) }

func (s *sight) hasSign(kind mime.AutomaticKind) bool {
	return slices.ContainsFunc(s.header.Automatic(), func(sign mime.AutomaticSign) bool { return sign.Kind == kind })
}

// answers reports whether the message answers another.
func (s *sight) answers() bool {
	return s.msg.InReplyTo != "" || strings.HasPrefix(strings.ToLower(s.msg.Subject), "re:")
}

func (s *sight) isReport() bool {
	return s.hasSign(mime.AutoReport) || s.header.FromDaemon() ||
		slices.ContainsFunc(s.msg.Attachments, func(a postroom.Attachment) bool {
			return a.Kind == string(mime.KindReport)
		})
}

// hasCalendar reports whether a calendar is part of the message.
func (s *sight) hasCalendar() bool {
	return slices.ContainsFunc(s.msg.Attachments, func(a postroom.Attachment) bool {
		mediaType, _, _ := strings.Cut(strings.ToLower(a.ContentType), ";")
		switch strings.TrimSpace(mediaType) {
		case "text/calendar", "application/ics":
			return true
		}
		return a.Kind == string(mime.KindCalendar)
	})
}

// byTab goes by Gmail's category. That of updates is mail of programs, which the header may tell more about.
func (s *sight) byTab() {
	switch {
	case s.msg.HasLabel(tabPromotions):
		s.is(FormPromotion, 0.9, "Gmail has put it under promotions")
	case s.msg.HasLabel(tabSocial):
		s.is(FormSocial, 0.9, "Gmail has put it under social")
	case s.msg.HasLabel(tabForums):
		s.is(FormDiscussion, 0.9, "Gmail has put it under forums")
	}
}

// byList goes by the fields of mailing lists and of bulk mail.
func (s *sight) byList() {
	precedence := strings.ToLower(strings.TrimSpace(s.header.Get("Precedence")))
	switch unsubscribe := &s.list.Unsubscribe; {
	case len(s.list.Post) > 0 && !s.list.PostForbidden:
		s.is(FormDiscussion, 0.9, "its readers can write to the list: List-Post")
	case s.list.ID != "" && (precedence == "list" && len(unsubscribe.Web) == 0 && !s.msg.HasLabel(tabUpdates) || s.answers()), s.header.Get("Mailing-List") != "":
		s.is(FormDiscussion, 0.85, "it is of a mailing list: "+clue(s.list.ID, "Mailing-List"))
	case len(unsubscribe.Web) == 0 && len(unsubscribe.Mail) == 0 && s.list.ID == "" && precedence != "bulk":
	case receiptWords.MatchString(s.msg.Subject) && !promotionWords.MatchString(s.msg.Subject):
		s.is(FormReceipt, 0.85, "a program has sent it, and its subject is about an order or a payment")
	case s.msg.HasLabel(tabUpdates):
		s.is(FormNotification, 0.85, "Gmail has put it under updates")
	case promotionWords.MatchString(s.msg.Subject):
		s.is(FormPromotion, 0.85, "it is bulk mail, and its subject advertises")
	case reportRoles[s.localPart()]:
		s.is(FormNotification, 0.85, "it is bulk mail, and "+s.localPart()+" is no name of a newsletter")
	default:
		s.is(FormNewsletter, 0.85, "it is bulk mail: one can unsubscribe from it")
	}
}

func clue(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}

// byProgram goes by the signs that no person wrote the message.
func (s *sight) byProgram() {
	why := ""
	if s.msg.HasLabel(tabUpdates) {
		why = "Gmail has put it under updates"
	}
	for _, sign := range s.header.Automatic() {
		// That a program should not answer is said by people's mail programs, too.
		if sign.Kind != mime.RepliesUnwanted && sign.Kind != mime.AutoForwarded {
			why = sign.String()
			break
		}
	}
	local := s.localPart()
	if why == "" && isRole(local) {
		why = local + " is no name of a person"
	}
	switch {
	case why == "":
	case promotionRoles[local]:
		s.is(FormPromotion, 0.85, why)
	case newsRoles[local]:
		s.is(FormNewsletter, 0.85, why)
	case receiptWords.MatchString(s.msg.Subject):
		s.is(FormReceipt, 0.85, "a program has sent it ("+why+"), and its subject is about an order or a payment")
	case receiptRoles[local]:
		s.is(FormReceipt, 0.85, "a program has sent it, from an address for orders and payments: "+local)
	default:
		s.is(FormNotification, 0.85, "a program has sent it: "+why)
	}
}

// localPart returns the name in the sender's address.
func (s *sight) localPart() string {
	local, _, _ := strings.Cut(strings.ToLower(s.msg.From.Email), "@")
	return local
}

// roles are local parts of addresses from which programs send mail. Behind others, such as info and support, people may
// sit.
var (
	roles       = names("auto-confirm codes confirmation notice notices statements subscriptions updates")
	reportRoles = names("account accounts alert alerts builds notification notifications notify security status")
	// receiptRoles are those of mail about orders and payments, whatever its subject says.
	receiptRoles = names(`billing booking bookings delivery deliveries donations invoice invoices order orders payment
		payments receipt receipts reservation reservations shipment shipping tracking
		rechnung rechnungen bestellung bestellungen versand buchung facture factures facturation commande factura
		facturas pedidos fatture ordini`)
	promotionRoles = names("deals marketing offers promo promotions angebote offres ofertas offerte")
	newsRoles      = names("digest news newsletter newsletters")
)

func isRole(local string) bool {
	return roles[local] || reportRoles[local] || receiptRoles[local] || promotionRoles[local] || newsRoles[local]
}

func names(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// byPerson goes by whom the owner knows. Who is not verified is nobody.
func (s *Service) byPerson(ctx context.Context, seen *sight) error {
	msg, from := seen.msg, mime.Address{Name: seen.msg.From.Name, Email: seen.msg.From.Email}
	if len(msg.Header("From")) > 1 || !authres.Read(seen.header, s.cfg.AuthServer).Verifies(from) {
		return nil
	}
	if s.cfg.Owner != nil {
		owner, err := s.cfg.Owner(ctx, msg.AccountID)
		if err != nil {
			return fmt.Errorf("llm/enrich: find the owner of account %s: %w", msg.AccountID, err)
		}
		_, domain, _ := strings.Cut(owner, "@")
		own := authres.OrganizationalDomain(domain)
		if own != "" && !isPublic(own) && own == authres.OrganizationalDomain(msg.From.Domain()) {
			seen.is(FormColleague, 0.85, "a person at "+own+" has written it")
			return nil
		}
	}
	if s.cfg.WrittenTo != nil {
		known, err := s.cfg.WrittenTo(ctx, msg.AccountID, msg.From.Email)
		if err != nil {
			return fmt.Errorf("llm/enrich: find out whether the owner has written to the sender of message %s: %w", msg.ID, err)
		}
		if known && isPublic(authres.OrganizationalDomain(msg.From.Domain())) {
			seen.is(FormCorrespondent, 0.85, "the owner has written to its sender, who has a private address")
		}
	}
	return nil
}

// isPublic reports whether anybody can have an address in the domain, at the providers of most private addresses.
func isPublic(domain string) bool {
	switch domain {
	case "gmail.com", "googlemail.com", "outlook.com", "hotmail.com", "live.com", "msn.com", "yahoo.com", "ymail.com",
		"aol.com", "icloud.com", "me.com", "mac.com", "gmx.de", "gmx.net", "gmx.at", "gmx.ch", "web.de", "t-online.de",
		"freenet.de", "posteo.de", "mailbox.org", "proton.me", "protonmail.com", "pm.me", "fastmail.com", "zoho.com",
		"yandex.ru", "yandex.com", "mail.ru", "qq.com", "163.com", "126.com", "naver.com", "orange.fr", "free.fr",
		"laposte.net", "libero.it", "bluewin.ch", "hotmail.co.uk", "yahoo.co.uk", "btinternet.com", "comcast.net":
		return true
	}
	return false
}
