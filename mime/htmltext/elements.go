package htmltext

// A tagName is an element of HTML; 0 is any other element.
type tagName uint8

// elementTraits are the properties of an element in the standard.
type elementTraits uint32

const (
	void         elementTraits = 1 << iota // has no content
	block                                  // begins a line of its own
	apart                                  // with an empty line before and after it
	special                                // ends no other element's search for its start (WHATWG HTML, 13.2.4.2)
	formatting                             // reopened after elements in which it was not closed
	closesP                                // ends a paragraph
	rawContent                             // its content is not markup
	entities                               // rawContent with character references
	heading                                // h1 to h6
	unseen                                 // browsers do not show it
	limitsScope                            // elements outside of it are not closed inside
	tableContent                           // part of a table
	marksFormats                           // formatting does not continue across its edges
	breaksOut                              // ends embedded pictures and formulas
	container                              // its box takes a height: block, and no part of a table
	clearsTable                            // text in it is moved before the table
)

// is reports whether the element has any of the traits.
func (e *elementInfo) is(t elementTraits) bool { return e.traits&t != 0 }

type elementInfo struct {
	name   string
	traits elementTraits
	// fontSize is the browser's size relative to the surrounding one; 0 means equal.
	fontSize float32
}

const (
	tagA tagName = iota + 1
	tagApplet
	tagArea
	tagAudio
	tagB
	tagBase
	tagBasefont
	tagBdo
	tagBgsound
	tagBig
	tagBlockquote
	tagBody
	tagBr
	tagButton
	tagCanvas
	tagCaption
	tagCenter
	tagCode
	tagCol
	tagColgroup
	tagDatalist
	tagDd
	tagDialog
	tagDiv
	tagDl
	tagDt
	tagEm
	tagEmbed
	tagFieldset
	tagFigure
	tagFont
	tagFooter
	tagForeignObject
	tagForm
	tagFrame
	tagFrameset
	tagH1
	tagH2
	tagH3
	tagH4
	tagH5
	tagH6
	tagHead
	tagHr
	tagHTML
	tagI
	tagIframe
	tagImage
	tagImg
	tagInput
	tagKeygen
	tagLi
	tagLink
	tagListing
	tagMark
	tagMarquee
	tagMath
	tagMeta
	tagNobr
	tagNoembed
	tagNoframes
	tagObject
	tagOl
	tagOptgroup
	tagOption
	tagP
	tagParam
	tagPlaintext
	tagPre
	tagRp
	tagS
	tagScript
	tagSelect
	tagSmall
	tagSource
	tagSpan
	tagStrike
	tagStrong
	tagStyle
	tagSub
	tagSummary
	tagSup
	tagSVG
	tagTable
	tagTbody
	tagTd
	tagTemplate
	tagTextarea
	tagTfoot
	tagTh
	tagThead
	tagTitle
	tagTr
	tagTrack
	tagTt
	tagU
	tagUl
	tagVideo
	tagWbr
	tagXmp
	tagMeter
	tagProgress
	// The rest are blocks without rules of their own.
	tagAddress
	tagArticle
	tagAside
	tagDetails
	tagDir
	tagFigcaption
	tagHeader
	tagHgroup
	tagMain
	tagMenu
	tagNav
	tagSearch
	tagSection
	tagCount
)

const (
	plainBlock = block | special | closesP | container
	apartBlock = plainBlock | apart
	headline   = apartBlock | heading | breaksOut
	format     = formatting | breaksOut
	tableRow   = special | block | tableContent | clearsTable
	cell       = special | tableContent | limitsScope | marksFormats
)

var elements = [tagCount]elementInfo{
	tagA:             {name: "a", traits: formatting},
	tagApplet:        {name: "applet", traits: special | limitsScope | marksFormats},
	tagArea:          {name: "area", traits: void | special | unseen},
	tagAudio:         {name: "audio", traits: unseen},
	tagB:             {name: "b", traits: format},
	tagBase:          {name: "base", traits: void | special | unseen},
	tagBasefont:      {name: "basefont", traits: void | special | unseen},
	tagBdo:           {name: "bdo"},
	tagBgsound:       {name: "bgsound", traits: void | special | unseen},
	tagBig:           {name: "big", traits: format, fontSize: 1.2},
	tagBlockquote:    {name: "blockquote", traits: apartBlock | breaksOut},
	tagBody:          {name: "body", traits: block | special | breaksOut},
	tagBr:            {name: "br", traits: void | special | breaksOut},
	tagButton:        {name: "button", traits: special | limitsScope},
	tagCanvas:        {name: "canvas"}, // without scripts it shows its content
	tagCaption:       {name: "caption", traits: block | special | limitsScope | tableContent | marksFormats},
	tagCenter:        {name: "center", traits: plainBlock | breaksOut},
	tagCode:          {name: "code", traits: format},
	tagCol:           {name: "col", traits: void | special | tableContent | unseen},
	tagColgroup:      {name: "colgroup", traits: special | tableContent | unseen},
	tagDatalist:      {name: "datalist", traits: unseen},
	tagDd:            {name: "dd", traits: plainBlock | breaksOut},
	tagDialog:        {name: "dialog", traits: block | closesP | container},
	tagDiv:           {name: "div", traits: plainBlock | breaksOut},
	tagDl:            {name: "dl", traits: apartBlock | breaksOut},
	tagDt:            {name: "dt", traits: plainBlock | breaksOut},
	tagEm:            {name: "em", traits: format},
	tagEmbed:         {name: "embed", traits: void | special | breaksOut},
	tagFieldset:      {name: "fieldset", traits: plainBlock},
	tagFigure:        {name: "figure", traits: plainBlock},
	tagFont:          {name: "font", traits: formatting},
	tagFooter:        {name: "footer", traits: plainBlock},
	tagForeignObject: {name: "foreignobject", traits: special | limitsScope | block},
	tagForm:          {name: "form", traits: plainBlock},
	tagFrame:         {name: "frame", traits: void | special | unseen},
	tagFrameset:      {name: "frameset", traits: special},
	tagH1:            {name: "h1", traits: headline, fontSize: 2},
	tagH2:            {name: "h2", traits: headline, fontSize: 1.5},
	tagH3:            {name: "h3", traits: headline, fontSize: 1.17},
	tagH4:            {name: "h4", traits: headline},
	tagH5:            {name: "h5", traits: headline, fontSize: .83},
	tagH6:            {name: "h6", traits: headline, fontSize: .67},
	tagHead:          {name: "head", traits: special | breaksOut},
	tagHr:            {name: "hr", traits: plainBlock | void | breaksOut},
	tagHTML:          {name: "html", traits: special | limitsScope},
	tagI:             {name: "i", traits: format},
	tagIframe:        {name: "iframe", traits: special | rawContent | unseen},
	tagImage:         {name: "image", traits: void},
	tagImg:           {name: "img", traits: void | special | breaksOut},
	tagInput:         {name: "input", traits: void | special},
	tagKeygen:        {name: "keygen", traits: void | special},
	tagLi:            {name: "li", traits: plainBlock | breaksOut},
	tagLink:          {name: "link", traits: void | special | unseen},
	tagListing:       {name: "listing", traits: apartBlock | breaksOut},
	tagMark:          {name: "mark"},
	tagMarquee:       {name: "marquee", traits: special | limitsScope | marksFormats},
	tagMath:          {name: "math"},
	tagMeta:          {name: "meta", traits: void | special | unseen | breaksOut},
	tagNobr:          {name: "nobr", traits: format},
	tagNoembed:       {name: "noembed", traits: special | rawContent | unseen},
	tagNoframes:      {name: "noframes", traits: special | rawContent | unseen},
	tagObject:        {name: "object", traits: special | limitsScope | marksFormats},
	tagOl:            {name: "ol", traits: apartBlock | breaksOut},
	tagOptgroup:      {name: "optgroup", traits: block},
	tagOption:        {name: "option", traits: block},
	tagP:             {name: "p", traits: apartBlock | breaksOut},
	tagParam:         {name: "param", traits: void | special | unseen},
	tagPlaintext:     {name: "plaintext", traits: plainBlock | rawContent},
	tagPre:           {name: "pre", traits: apartBlock | breaksOut},
	tagRp:            {name: "rp", traits: unseen},
	tagS:             {name: "s", traits: format},
	tagScript:        {name: "script", traits: special | rawContent | unseen},
	tagSelect:        {name: "select", traits: special},
	tagSmall:         {name: "small", traits: format, fontSize: .83},
	tagSource:        {name: "source", traits: void | special | unseen},
	tagSpan:          {name: "span", traits: breaksOut},
	tagStrike:        {name: "strike", traits: format},
	tagStrong:        {name: "strong", traits: format},
	tagStyle:         {name: "style", traits: special | rawContent | unseen},
	tagSub:           {name: "sub", traits: breaksOut, fontSize: .83},
	tagSummary:       {name: "summary", traits: plainBlock},
	tagSup:           {name: "sup", traits: breaksOut, fontSize: .83},
	tagSVG:           {name: "svg"},
	tagTable:         {name: "table", traits: special | block | apart | limitsScope | breaksOut | clearsTable},
	tagTbody:         {name: "tbody", traits: special | tableContent | clearsTable},
	tagTd:            {name: "td", traits: cell},
	tagTemplate:      {name: "template", traits: special | limitsScope | marksFormats | unseen},
	tagTextarea:      {name: "textarea", traits: special | rawContent | entities},
	tagTfoot:         {name: "tfoot", traits: special | tableContent | clearsTable},
	tagTh:            {name: "th", traits: cell},
	tagThead:         {name: "thead", traits: special | tableContent | clearsTable},
	tagTitle:         {name: "title", traits: special | rawContent | entities | unseen},
	tagTr:            {name: "tr", traits: tableRow},
	tagTrack:         {name: "track", traits: void | special | unseen},
	tagTt:            {name: "tt", traits: format},
	tagU:             {name: "u", traits: format},
	tagUl:            {name: "ul", traits: apartBlock | breaksOut},
	tagVideo:         {name: "video", traits: unseen},
	tagWbr:           {name: "wbr", traits: void | special},
	tagXmp:           {name: "xmp", traits: apartBlock | rawContent},
	tagMeter:         {name: "meter", traits: unseen},
	tagProgress:      {name: "progress", traits: unseen},
	tagAddress:       {name: "address", traits: plainBlock},
	tagArticle:       {name: "article", traits: plainBlock},
	tagAside:         {name: "aside", traits: plainBlock},
	tagDetails:       {name: "details", traits: plainBlock},
	tagDir:           {name: "dir", traits: plainBlock},
	tagFigcaption:    {name: "figcaption", traits: plainBlock},
	tagHeader:        {name: "header", traits: plainBlock},
	tagHgroup:        {name: "hgroup", traits: plainBlock},
	tagMain:          {name: "main", traits: plainBlock},
	tagMenu:          {name: "menu", traits: plainBlock | breaksOut},
	tagNav:           {name: "nav", traits: plainBlock},
	tagSearch:        {name: "search", traits: plainBlock},
	tagSection:       {name: "section", traits: plainBlock},
}

// An attrName is an attribute that Read uses.
type attrName uint8

const (
	attrAlt attrName = iota
	attrBackground
	attrBgcolor
	attrClass
	attrColor
	attrDir
	attrHeight
	attrHidden
	attrHref
	attrID
	attrLink
	attrMedia
	attrOpen
	attrPopover
	attrSize
	attrStart
	attrStyle
	attrText
	attrType
	attrValue
	attrWidth
	attrCount
)

var attrNames = [attrCount]string{
	"alt", "background", "bgcolor", "class", "color", "dir", "height", "hidden", "href", "id", "link", "media", "open",
	"popover", "size", "start", "style", "text",
	"type", "value", "width",
}

// The names of elements and attributes; both are made once from the tables above.
var tagNames, attributeNames = makeNames()

func makeNames() (tags, attrs nameTable) {
	for tag := tagName(1); tag < tagCount; tag++ {
		tags.add(elements[tag].name, uint8(tag))
	}
	for attr, name := range attrNames {
		attrs.add(name, uint8(attr))
	}
	return tags, attrs
}

// tagOf returns the element with the name; 0 for one that HTML does not know.
func tagOf(name string) tagName {
	tag, _ := tagNames.find(name)
	return tagName(tag)
}

// A nameTable finds names without regard to the case of A to Z, faster than a map does. Names are not empty.
type nameTable struct {
	slots [512]namedValue
}

type namedValue struct {
	name  string // in lower case
	value uint8
}

func slotOf(name string) uint {
	last := len(name) - 1
	h := uint(name[0]|0x20)*31 + uint(name[last]|0x20)*7 + uint(name[last/2]|0x20)*131 + uint(len(name))*67
	return h % uint(len(nameTable{}.slots))
}

func (t *nameTable) add(name string, value uint8) {
	i := slotOf(name)
	for t.slots[i].name != "" {
		i = (i + 1) % uint(len(t.slots))
	}
	t.slots[i] = namedValue{name, value}
}

func (t *nameTable) find(name string) (value uint8, ok bool) {
	if name == "" {
		return 0, false
	}
	for i := slotOf(name); t.slots[i].name != ""; i = (i + 1) % uint(len(t.slots)) {
		if equalASCII(name, t.slots[i].name) {
			return t.slots[i].value, true
		}
	}
	return 0, false
}

// equalASCII reports whether s equals lower when the case of A to Z is ignored.
func equalASCII(s, lower string) bool {
	if len(s) != len(lower) {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
