package gmailfilter

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/postroom-go/postroom"
	"github.com/postroom-go/postroom/rules"
)

// A Filter is one of the filters of a Gmail account.
type Filter struct {
	// From, To and Subject are searches in these fields, Query and NegatedQuery searches as in Gmail's own search box.
	From, To, Subject   string
	Query, NegatedQuery string
	HasAttachment       bool
	// Size in bytes counts if SizeComparison is larger or smaller.
	Size           int64
	SizeComparison string
	// AddLabels and RemoveLabels are names of labels, and the ids of those that Gmail has itself, such as INBOX.
	AddLabels, RemoveLabels []string
	Forward                 string
}

// maxFilterFile is far beyond the 1,000 filters that an account may have.
const maxFilterFile = 16 << 20

// Read reads filters as Gmail's settings export them (mailFilters.xml), or as the method users.settings.filters.list of
// its API returns them (JSON). The API names labels by ids: labelName returns the name of a label by its id, and may
// be nil for a file in XML.
func Read(r io.Reader, labelName func(id string) (string, bool)) ([]Filter, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFilterFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read Gmail's filters: %w", err)
	case len(data) > maxFilterFile:
		return nil, fmt.Errorf("read Gmail's filters: there are more than %d bytes", maxFilterFile)
	}
	text := strings.TrimSpace(strings.TrimPrefix(string(data), "\uFEFF"))
	if strings.HasPrefix(text, "{") {
		return readFilterJSON(text, labelName)
	}
	return readFilterXML(text)
}

// A filterFeed is the form of mailFilters.xml: an Atom feed, whose entries have properties.
type filterFeed struct {
	XMLName xml.Name      `xml:"feed"`
	Entries []filterEntry `xml:"entry"`
}

type filterEntry struct {
	Properties []filterProperty `xml:"http://schemas.google.com/apps/2006 property"`
}

type filterProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

func readFilterXML(text string) ([]Filter, error) {
	var feed filterFeed
	if err := xml.Unmarshal([]byte(text), &feed); err != nil {
		return nil, fmt.Errorf("read Gmail's filters: neither an export (mailFilters.xml) nor JSON of the API: %w", err)
	}
	filters := make([]Filter, len(feed.Entries))
	for i, e := range feed.Entries {
		if err := filters[i].readProperties(e.Properties); err != nil {
			return nil, fmt.Errorf("read Gmail's filters: filter %d: %w", i+1, err)
		}
	}
	return filters, nil
}

// smartLabels are the ids of the tabs by the names in mailFilters.xml.
var smartLabels = map[string]string{
	"^smartlabel_personal": "CATEGORY_PERSONAL", "^smartlabel_social": "CATEGORY_SOCIAL", "^smartlabel_promo": "CATEGORY_PROMOTIONS",
	"^smartlabel_notification": "CATEGORY_UPDATES", "^smartlabel_group": "CATEGORY_FORUMS",
}

// sizeProperties maps the values of the properties about the size.
var (
	sizeOperators = map[string]string{"s_sl": "larger", "s_ss": "smaller"}
	sizeFactors   = map[string]int64{"s_smb": 1 << 20, "s_skb": 1 << 10, "s_sb": 1}
)

func (f *Filter) readProperties(properties []filterProperty) error {
	unit := int64(1)
	flags := map[string]func(){
		"hasAttachment":               func() { f.HasAttachment = true },
		"shouldArchive":               func() { f.RemoveLabels = append(f.RemoveLabels, postroom.LabelInbox) },
		"shouldMarkAsRead":            func() { f.RemoveLabels = append(f.RemoveLabels, postroom.LabelUnread) },
		"shouldStar":                  func() { f.AddLabels = append(f.AddLabels, postroom.LabelStarred) },
		"shouldTrash":                 func() { f.AddLabels = append(f.AddLabels, postroom.LabelTrash) },
		"shouldSpam":                  func() { f.AddLabels = append(f.AddLabels, postroom.LabelSpam) },
		"shouldNeverSpam":             func() { f.RemoveLabels = append(f.RemoveLabels, postroom.LabelSpam) },
		"shouldAlwaysMarkAsImportant": func() { f.AddLabels = append(f.AddLabels, postroom.LabelImportant) },
		"shouldNeverMarkAsImportant":  func() { f.RemoveLabels = append(f.RemoveLabels, postroom.LabelImportant) },
		"excludeChats":                func() {}, // there are no chats in mailboxes any more
	}
	texts := map[string]*string{
		"from": &f.From, "to": &f.To, "subject": &f.Subject, "hasTheWord": &f.Query, "doesNotHaveTheWord": &f.NegatedQuery, "forwardTo": &f.Forward,
	}
	for _, p := range properties {
		flag, isFlag := flags[p.Name]
		text, isText := texts[p.Name]
		switch {
		case isFlag:
			if p.Value == "true" {
				flag()
			}
		case isText:
			*text = p.Value
		case p.Name == "label":
			f.AddLabels = append(f.AddLabels, p.Value)
		case p.Name == "smartLabelToApply" && smartLabels[p.Value] != "":
			f.AddLabels = append(f.AddLabels, smartLabels[p.Value])
		case p.Name == "size":
			n, err := strconv.ParseInt(p.Value, 10, 40)
			if err != nil || n < 0 {
				return fmt.Errorf("the size is %q", p.Value)
			}
			f.Size = n
		case p.Name == "sizeOperator" && sizeOperators[p.Value] != "":
			f.SizeComparison = sizeOperators[p.Value]
		case p.Name == "sizeUnit" && sizeFactors[p.Value] != 0:
			unit = sizeFactors[p.Value]
		default:
			return fmt.Errorf("the property %s=%q is not known", p.Name, p.Value)
		}
	}
	if f.Size *= unit; f.Size == 0 {
		f.SizeComparison = "" // each export has an operator and a unit, also without a size
	}
	return nil
}

// filterList is the form of the API.
type filterList struct {
	Filters []struct {
		Criteria struct {
			From           string `json:"from"`
			To             string `json:"to"`
			Subject        string `json:"subject"`
			Query          string `json:"query"`
			NegatedQuery   string `json:"negatedQuery"`
			HasAttachment  bool   `json:"hasAttachment"`
			Size           int64  `json:"size"`
			SizeComparison string `json:"sizeComparison"`
		} `json:"criteria"`
		Action struct {
			AddLabelIDs    []string `json:"addLabelIds"`
			RemoveLabelIDs []string `json:"removeLabelIds"`
			Forward        string   `json:"forward"`
		} `json:"action"`
	} `json:"filter"`
}

func readFilterJSON(text string, labelName func(id string) (string, bool)) ([]Filter, error) {
	var list filterList
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, fmt.Errorf("read Gmail's filters: %w", err)
	}
	if list.Filters == nil {
		return nil,
			errors.New(`read Gmail's filters: the JSON has no "filter"; give the answer of users.settings.filters.list`)
	}
	filters := make([]Filter, len(list.Filters))
	for i, f := range list.Filters {
		c, a := f.Criteria, f.Action
		filters[i] = Filter{
			From: c.From, To: c.To, Subject: c.Subject, Query: c.Query, NegatedQuery: c.NegatedQuery,
			HasAttachment: c.HasAttachment,
			Size:          c.Size, SizeComparison: strings.Replace(c.SizeComparison, "unspecified", "", 1), Forward: a.Forward,
		}
		for _, labels := range []struct {
			ids []string
			to  *[]string
		}{{a.AddLabelIDs, &filters[i].AddLabels}, {a.RemoveLabelIDs, &filters[i].RemoveLabels}} {
			for _, id := range labels.ids {
				name := id
				if !rules.IsSystemLabel(id) {
					known := false
					if labelName != nil {
						name, known = labelName(id)
					}
					if !known {
						return nil, fmt.Errorf("read Gmail's filters: filter %d: there is no label with the id %q", i+1, id)
					}
				}
				*labels.to = append(*labels.to, name)
			}
		}
	}
	return filters, nil
}
