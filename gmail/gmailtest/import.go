package gmailtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/postroom-go/postroom/gmail/gmailtest/internal/rawmail"
	"github.com/postroom-go/postroom/gmail/gmailtest/mailbox"
	"github.com/postroom-go/postroom/internal/dbquery"
	"github.com/postroom-go/postroom/internal/fields"
	"github.com/postroom-go/postroom/queue"
)

// The part of a mailbox that one transaction imports and that is in memory at a time.
const (
	batchMessages = 200
	batchBytes    = 8 << 20
)

// Import copies the messages of a mailbox that are not there yet, and returns their number. It may be interrupted at
// any instant and repeated. A message is identified by the mailbox's name and its own bytes; equal messages are
// numbered. So no message is imported twice, even if the mailbox has grown or shrunk, and a message that was deleted
// here is not imported again. The id of a message is derived from that identity.
//
// Labels and threads are those of Google Takeout if the mailbox has them; user labels are created. Other messages are
// in the inbox and unread, unless their flags differ. A message with a Problem is not imported, see
// [Account.Refused].
//
// progress, which may be nil, is called after each batch with the number of messages read.
func (a *Account) Import(ctx context.Context, source mailbox.Source, progress func(done int)) (added int, err error) {
	defer a.server.publisher.Wake()
	if err := fields.Required("gmailtest: Import: source", source,
		"a mailbox, such as sample.Mailbox or one that package mailbox opens"); err != nil {
		return 0, err
	}
	in := importer{account: a, mailbox: source.Name(), copies: map[[sha256.Size]byte]int{}, progress: progress}
	if err := in.forgetRefused(ctx); err != nil {
		return 0, fmt.Errorf("gmailtest: import: %w", err)
	}
	for msg, err := range source.Messages() {
		if err == nil {
			err = in.take(ctx, &msg)
		}
		if err != nil {
			// Messages before the error are valid.
			return in.added, errors.Join(fmt.Errorf("gmailtest: import: %w", err), in.flush(ctx))
		}
	}
	if err := in.flush(ctx); err != nil {
		return in.added, fmt.Errorf("gmailtest: import: %w", err)
	}
	return in.added, nil
}

// An importer imports one mailbox.
type importer struct {
	account  *Account
	mailbox  string
	progress func(done int)
	copies   map[[sha256.Size]byte]int // how often each message was seen

	batch []pending
	bytes int
	done  int
	added int
}

// A pending message waits for its batch.
type pending struct {
	mailbox.Message
	id      string
	arrival *arrival // nil if it cannot be imported
	subject string   // only in that case
}

// forgetRefused forgets earlier refusals, so that the messages are tried again: a file may be readable by now.
func (in *importer) forgetRefused(ctx context.Context) error {
	return in.account.server.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		_, err := tx.ExecContext(ctx, forgetRefused, in.account.id, in.mailbox)
		return err
	})
}

func (in *importer) take(ctx context.Context, msg *mailbox.Message) error {
	sum := sha256.Sum256(msg.Raw)
	if msg.Raw == nil {
		sum = sha256.Sum256([]byte(msg.Name))
	}
	copies := in.copies[sum]
	in.copies[sum]++
	id := messageID(in.mailbox, hex.EncodeToString(sum[:]), strconv.Itoa(copies))
	in.batch = append(in.batch, pending{Message: *msg, id: id})
	in.bytes += len(msg.Raw)
	if len(in.batch) >= batchMessages || in.bytes >= batchBytes {
		return in.flush(ctx)
	}
	return nil
}

// flush commits the batch.
func (in *importer) flush(ctx context.Context) error {
	batch := in.batch
	in.batch, in.bytes = nil, 0
	fresh, err := in.fresh(ctx, batch)
	if err != nil {
		return err
	}
	if len(fresh) > 0 {
		added, err := in.commit(ctx, fresh)
		if err != nil {
			return err
		}
		in.added += added
	}
	in.done += len(batch)
	if in.progress != nil && len(batch) > 0 {
		in.progress(in.done)
	}
	return nil
}

// fresh leaves out messages that were imported before, so that a second import is fast.
func (in *importer) fresh(ctx context.Context, batch []pending) ([]pending, error) {
	ids := make([]string, len(batch))
	for i := range batch {
		ids[i] = batch[i].id
	}
	var known []string
	if err := dbquery.Select(ctx, in.account.server.db.Reader(), &known, selectImported, in.account.id,
		textList(ids)); err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(known))
	for _, id := range known {
		seen[id] = true
	}
	var fresh []pending
	for _, p := range batch {
		if !seen[p.id] {
			fresh = append(fresh, p)
		}
	}
	return fresh, nil
}

func (in *importer) commit(ctx context.Context, batch []pending) (added int, err error) {
	for i := range batch {
		batch[i].prepare(in.account.id)
	}
	err = in.account.server.db.Write(ctx, func(ctx context.Context, tx queue.Tx) error {
		added = 0
		for i := range batch {
			isNew, err := batch[i].commit(ctx, tx, in.account.id, in.mailbox)
			if err != nil {
				return fmt.Errorf("message %d: %w", batch[i].Position, err)
			}
			if isNew {
				added++
			}
		}
		return nil
	})
	return added, err
}

// prepare does the work that needs no transaction. A message with a problem gets no arrival.
func (p *pending) prepare(account int64) {
	if p.Problem != "" {
		header, _ := rawmail.Split(p.Raw)
		p.subject = strings.ReplaceAll(rawmail.DecodeText(header.Get("Subject")), "\x00", "\uFFFD")
		return
	}
	p.arrival = &arrival{account: account, id: p.id, raw: p.Raw, received: p.Received, threadID: takeoutThread(p.ThreadID)}
	if p.Raw == nil {
		p.arrival.raw = []byte{} // an empty message, not the absence of one
	}
	if p.Received.IsZero() {
		p.arrival.received = time.Unix(0, 0)
	}
	p.arrival.examine()
}

// commit records the origin of the message and inserts it. isNew is false if another process has imported it meanwhile.
func (p *pending) commit(ctx context.Context, tx queue.Tx, account int64, from string) (isNew bool, err error) {
	rows, err := dbquery.Exec(ctx, tx, insertImport, account, p.id, from, p.Position, p.Name, p.Problem, p.subject)
	if err != nil || rows == 0 || p.arrival == nil {
		return false, err
	}
	if p.arrival.labels, err = p.labelIDs(ctx, tx, account); err != nil {
		return false, err
	}
	_, err = p.arrival.insert(ctx, tx)
	return err == nil, err
}

// takeoutThread converts X-GM-THRID to the hexadecimal form of the API. It returns an empty string if there is none.
func takeoutThread(decimal string) string {
	n, err := strconv.ParseUint(decimal, 10, 64)
	if err != nil || n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 16)
}

func (p *pending) labelIDs(ctx context.Context, tx queue.Tx, account int64) ([]string, error) {
	names := p.Labels
	if !p.Labeled {
		names = labelsOfFlags(p.Flags)
	}
	var ids []string
	for _, name := range names {
		id, err := importedLabel(ctx, tx, account, name)
		if err != nil {
			return nil, fmt.Errorf("label %q: %w", name, err)
		}
		if id != "" {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// labelsOfFlags returns the labels of a message of another mail program.
func labelsOfFlags(f mailbox.Flags) []string {
	var names []string
	switch {
	case f.Trashed:
		names = append(names, labelTrash)
	case f.Draft:
		names = append(names, labelDraft)
	default:
		names = append(names, labelInbox)
	}
	if !f.Seen {
		names = append(names, labelUnread)
	}
	if f.Flagged {
		names = append(names, "STARRED")
	}
	return names
}

// importedLabel returns the id of a name in X-Gmail-Labels; empty if the name is not a label.
func importedLabel(ctx context.Context, tx queue.Tx, account int64, name string) (string, error) {
	key := strings.ToUpper(strings.ReplaceAll(strings.TrimSpace(name), " ", "_"))
	if id, ok := takeoutNames[strings.ToLower(strings.TrimSpace(name))]; ok {
		key = id
	}
	if key == "" {
		return "", nil
	}
	for _, id := range systemLabels {
		if id == key {
			return id, nil
		}
	}
	return ensureLabel(ctx, tx, account, storableName(name))
}

// storableName makes a name of Takeout valid for a label. QUIRK: exports of other programs have slashes at the ends,
// names that are too long, and names that Gmail reserves.
func storableName(name string) string {
	parts := slices.DeleteFunc(strings.Split(name, "/"), func(part string) bool { return strings.TrimSpace(part) == "" })
	if name = strings.Join(parts, "/"); slices.Contains(reservedLabels, nameKey(name)) || name == "" {
		name = "_" + name
	}
	if runes := []rune(name); len(runes) > maxLabelName {
		name = strings.TrimRight(string(runes[:maxLabelName]), "/ ")
	}
	return name
}

// takeoutNames are the lower-case names of system labels in X-Gmail-Labels, as Google Takeout writes them in the
// language of the account. A name is empty if it is not a label. QUIRK: there is no official list; these are the
// languages of most mailboxes, and an unknown name becomes a user label.
var takeoutNames = func() map[string]string {
	names := make(map[string]string)
	for id, all := range map[string][]string{
		"INBOX": {
			"inbox", "posteingang", "boîte de réception", "recibidos", "posta in arrivo", "caixa de entrada",
			"postvak in", "inkorg",
			"indbakke", "innboks", "odebrane", "doručená pošta", "входящие", "受信トレイ", "收件箱", "收件匣", "받은편지함", "gelen kutusu",
		},
		"SENT": {
			"sent", "gesendet", "messages envoyés", "enviados", "inviati", "posta inviata", "e-mails enviados",
			"verzonden", "skickat",
			"sendt", "wysłane", "odeslaná pošta", "отправленные", "送信済みメール", "已发邮件", "寄件備份", "보낸편지함", "gönderilmiş postalar",
		},
		"DRAFT": {
			"draft", "drafts", "entwürfe", "brouillons", "borradores", "bozze", "rascunhos", "concepten", "utkast", "kladder",
			"wersje robocze",
			"koncepty", "черновики", "下書き", "草稿", "임시보관함", "taslaklar",
		},
		"TRASH": {
			"trash", "bin", "papierkorb", "corbeille", "papelera", "cestino", "lixeira", "lixo", "prullenbak",
			"papperskorgen", "papirkurv",
			"papirkurven", "kosz", "koš", "корзина", "ゴミ箱", "已删除邮件", "垃圾桶", "휴지통", "çöp kutusu",
		},
		"SPAM": {
			"spam", "junk", "indésirables", "correo no deseado", "skräppost", "søppelpost", "спам", "迷惑メール", "垃圾邮件",
			"垃圾郵件", "스팸함",
		},
		"STARRED": {
			"starred", "markiert", "favoris", "messages suivis", "suivis", "destacados", "speciali", "com estrela", "met ster",
			"stjärnmärkt",
			"stjernemarkeret", "stjernemerket", "oznaczone gwiazdką", "s hvězdičkou", "помеченные", "スター付き", "已加星标", "已加星號",
			"별표편지함", "yıldızlı",
		},
		"IMPORTANT": {
			"important", "wichtig", "importants", "importante", "importantes", "importanti", "belangrijk", "viktigt",
			"vigtigt", "viktig",
			"ważne", "důležité", "важное", "重要", "重要邮件", "중요편지함", "önemli",
		},
		"UNREAD": {
			"unread", "ungelesen", "non lus", "non lu", "no leídos", "no leído", "da leggere", "não lidas",
			"não lidos", "não lido",
			"ongelezen", "oläst", "olästa", "ulæst", "ulest", "nieprzeczytane", "nepřečtené", "непрочитанные", "未読", "未读",
			"未讀", "읽지않음", "okunmamış",
		},
		"": {
			"opened", "geöffnet", "ouvert", "ouverts", "abierto", "abiertos", "aperto", "aperti", "aberto", "abertos",
			"geopend", "öppnat", "åbnet",
			"åpnet", "otwarte", "otevřené", "открытые", "開封済み", "已打开", "已開啟", "열림", "açılmış",
			"archived", "archiviert", "archivé", "archivés", "archivado", "archivados", "archiviati", "arquivado",
			"arquivados", "gearchiveerd",
			"arkiverat", "arkiveret", "arkivert", "zarchiwizowane", "archivováno", "архивные", "アーカイブ済み", "已归档", "已封存", "보관됨",
			"arşivlenmiş",
		},
	} {
		for _, name := range all {
			names[name] = id
		}
	}
	return names
}()
