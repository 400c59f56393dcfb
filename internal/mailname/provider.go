package mailname

import (
	"slices"
	"strings"
)

// IsProvider reports whether everybody can have a mailbox at the organizational domain, which is in lower case.
func IsProvider(domain string) bool {
	name, _, _ := strings.Cut(domain, ".")
	return slices.Contains(providers, domain) || slices.Contains(inManyCountries, name)
}

// inManyCountries are providers with a domain for many countries, such as yahoo.co.uk.
var inManyCountries = []string{"gmx", "hotmail", "live", "outlook", "yahoo", "ymail"}

// providers are domains of providers of mailboxes.
var providers = strings.Fields(`
126.com 163.com aliyun.com aol.com arcor.de att.net bellsouth.net bigpond.com bluewin.ch bol.com.br btinternet.com
centrum.cz comcast.net cox.net daum.net disroot.org email.cz email.it fastmail.com fastmail.fm foxmail.com free.fr
freenet.de gmail.com googlemail.com hanmail.net hey.com hushmail.com icloud.com inbox.lv inbox.ru interia.pl kpnmail.nl
laposte.net libero.it list.ru mac.com mail.com mail.de mail.ee mail.ru mailbox.org me.com msn.com naver.com neuf.fr
o2.pl onet.pl op.pl optonline.net orange.fr outlook.com pm.me posteo.de proton.me protonmail.ch protonmail.com qq.com
rambler.ru rediffmail.com riseup.net rocketmail.com rogers.com sbcglobal.net seznam.cz sfr.fr shaw.ca sina.com sky.com
skynet.be sohu.com sympatico.ca t-online.de talktalk.net telenet.be terra.com.br tiscali.it tuta.com tuta.io
tutanota.com tutanota.de uol.com.br verizon.net videotron.ca virgilio.it virginmedia.com volny.cz wanadoo.fr web.de
windowslive.com wp.pl xtra.co.nz yandex.com yandex.ru yeah.net zoho.com zoho.eu zohomail.com zohomail.eu`)
