package gmailtest

// takeoutNames are the lower-case names of system labels in X-Gmail-Labels, as Google Takeout writes them in the language of the
// account. A name is empty if it is not a label. QUIRK: there is no official list; these are the languages of most mailboxes, and
// an unknown name becomes a user label.
var takeoutNames = func() map[string]string {
	names := make(map[string]string)
	for id, all := range map[string][]string{
		"INBOX": {
			"inbox", "posteingang", "boîte de réception", "recibidos", "posta in arrivo", "caixa de entrada", "postvak in", "inkorg",
			"indbakke", "innboks", "odebrane", "doručená pošta", "входящие", "受信トレイ", "收件箱", "收件匣", "받은편지함", "gelen kutusu",
		},
		"SENT": {
			"sent", "gesendet", "messages envoyés", "enviados", "inviati", "posta inviata", "e-mails enviados", "verzonden", "skickat",
			"sendt", "wysłane", "odeslaná pošta", "отправленные", "送信済みメール", "已发邮件", "寄件備份", "보낸편지함", "gönderilmiş postalar",
		},
		"DRAFT": {
			"draft", "drafts", "entwürfe", "brouillons", "borradores", "bozze", "rascunhos", "concepten", "utkast", "kladder", "wersje robocze",
			"koncepty", "черновики", "下書き", "草稿", "임시보관함", "taslaklar",
		},
		"TRASH": {
			"trash", "bin", "papierkorb", "corbeille", "papelera", "cestino", "lixeira", "lixo", "prullenbak", "papperskorgen", "papirkurv",
			"papirkurven", "kosz", "koš", "корзина", "ゴミ箱", "已删除邮件", "垃圾桶", "휴지통", "çöp kutusu",
		},
		"SPAM": {
			"spam", "junk", "indésirables", "correo no deseado", "skräppost", "søppelpost", "спам", "迷惑メール", "垃圾邮件", "垃圾郵件", "스팸함",
		},
		"STARRED": {
			"starred", "markiert", "favoris", "messages suivis", "suivis", "destacados", "speciali", "com estrela", "met ster", "stjärnmärkt",
			"stjernemarkeret", "stjernemerket", "oznaczone gwiazdką", "s hvězdičkou", "помеченные", "スター付き", "已加星标", "已加星號", "별표편지함", "yıldızlı",
		},
		"IMPORTANT": {
			"important", "wichtig", "importants", "importante", "importantes", "importanti", "belangrijk", "viktigt", "vigtigt", "viktig",
			"ważne", "důležité", "важное", "重要", "重要邮件", "중요편지함", "önemli",
		},
		"UNREAD": {
			"unread", "ungelesen", "non lus", "non lu", "no leídos", "no leído", "da leggere", "não lidas", "não lidos", "não lido",
			"ongelezen", "oläst", "olästa", "ulæst", "ulest", "nieprzeczytane", "nepřečtené", "непрочитанные", "未読", "未读", "未讀", "읽지않음", "okunmamış",
		},
		"": {
			"opened", "geöffnet", "ouvert", "ouverts", "abierto", "abiertos", "aperto", "aperti", "aberto", "abertos", "geopend", "öppnat", "åbnet",
			"åpnet", "otwarte", "otevřené", "открытые", "開封済み", "已打开", "已開啟", "열림", "açılmış",
			"archived", "archiviert", "archivé", "archivés", "archivado", "archivados", "archiviati", "arquivado", "arquivados", "gearchiveerd",
			"arkiverat", "arkiveret", "arkivert", "zarchiwizowane", "archivováno", "архивные", "アーカイブ済み", "已归档", "已封存", "보관됨", "arşivlenmiş",
		},
	} {
		for _, name := range all {
			names[name] = id
		}
	}
	return names
}()
