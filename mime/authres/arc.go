package authres

import (
	"github.com/postroom-go/postroom/mime"
	"github.com/postroom-go/postroom/mime/internal/fieldvalue"
	"strconv"
	"strings"
	"time"
)

// ARC is the Authenticated Received Chain of a message (RFC 8617): the findings of each server on its way before it
// changed or forwarded the message. ARC does not check signatures, so everything in it is a claim. Rely on a chain
// only if the "arc" result of [Read] is "pass", and on a set only if you trust its Domain.
type ARC struct {
	// Sets are in the order of the chain: the server of the first set saw the message first.
	Sets []ARCSet
	// Broken explains why the chain cannot be valid, whatever its signatures (RFC 8617, section 5.2). It is empty if the
	// structure is right, or if there is no chain.
	Broken string
}

// An ARCSet holds the fields that one server added.
type ARCSet struct {
	Instance int    // from 1
	Chain    string // how the server found the chain before it: "none", "pass" or "fail"
	Domain   string // that of the seal, in lower case
	Selector string // that of the seal
	// Sealed is the time of the seal according to the server; zero if it gives none.
	Sealed time.Time
	// Claims are the server's findings, which are not verified.
	Claims Results
}

// maxARCSets bounds a chain (RFC 8617, section 4.2.1).
const maxARCSets = 50

// ReadARC returns the chain of a header; the zero ARC if the message has none.
func ReadARC(h mime.Header) ARC {
	sets := map[int]*arcFields{}
	highest, broken := 0, ""
	for i := range h {
		f := &h[i]
		kind := arcFieldKind(strings.ToLower(f.Name))
		if kind < 0 {
			continue
		}
		instance := arcInstance(f.Raw())
		if instance == 0 {
			broken = f.Name + " without an instance from 1 to " + strconv.Itoa(maxARCSets)
			continue
		}
		highest = max(highest, instance)
		if sets[instance] == nil {
			sets[instance] = &arcFields{}
		}
		if sets[instance][kind] != nil {
			broken = "instance " + strconv.Itoa(instance) + " has two of " + f.Name
			continue
		}
		sets[instance][kind] = f
	}
	return readChain(sets, highest, broken)
}

// arcFields are the three fields of a set, by arcFieldKind.
type arcFields [3]*mime.Field

// arcFieldKind is the index of a field within its set, by its lower-case name; -1 if it is not a field of ARC.
func arcFieldKind(name string) int {
	switch name {
	case "arc-seal":
		return 0
	case "arc-message-signature":
		return 1
	case "arc-authentication-results":
		return 2
	default:
		return -1
	}
}

// arcInstance reads the tag "i" of any of the fields; 0 if it is invalid.
func arcInstance(value string) int {
	for pair := range strings.SplitSeq(value, ";") {
		name, number, _ := strings.Cut(pair, "=")
		if strings.EqualFold(strings.TrimSpace(name), "i") {
			n, _ := strconv.Atoi(strings.TrimSpace(number)) // an invalid number is 0 or out of range
			if n < 0 || n > maxARCSets {
				return 0
			}
			return n
		}
	}
	return 0
}

func readChain(sets map[int]*arcFields, highest int, broken string) ARC {
	chain := ARC{Broken: broken}
	for instance := 1; instance <= highest; instance++ {
		fields := sets[instance]
		if fields == nil || fields[0] == nil || fields[1] == nil || fields[2] == nil {
			chain.Broken = "instance " + strconv.Itoa(instance) + " is not complete"
			continue
		}
		set := readARCSet(instance, fields)
		if instance == 1 && set.Chain != "none" || instance > 1 && set.Chain != "pass" {
			chain.Broken = "instance " + strconv.Itoa(instance) + " has cv=" + fieldvalue.Excerpt(set.Chain)
		}
		chain.Sets = append(chain.Sets, set)
	}
	return chain
}

func readARCSet(instance int, fields *arcFields) ARCSet {
	seal := fieldvalue.Tags(fields[0].Raw())
	set := ARCSet{
		Instance: instance, Chain: strings.ToLower(seal["cv"]), Domain: strings.ToLower(seal["d"]), Selector: seal["s"],
	}
	if seconds, err := strconv.ParseInt(seal["t"], 10, 64); err == nil && seconds > 0 && seconds < maxSealed {
		set.Sealed = time.Unix(seconds, 0).UTC()
	}
	_, results, _ := strings.Cut(fields[2].Raw(), ";")
	set.Claims, _ = Parse(results)
	return set
}

// maxSealed is the end of the year 9999, in seconds since 1970.
const maxSealed = 253_402_300_800
