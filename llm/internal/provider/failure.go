package provider

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"time"

	"github.com/postroom-go/postroom/llm"
)

// A failure is the body of a failure in the forms of the providers: OpenAI with type and code, Anthropic with type,
// Gemini with status and details.
type failure struct {
	Message string          `json:"message"`
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"` // a word, or Gemini's repetition of the status
	Status  string          `json:"status"`
	Details []struct {
		Reason     string `json:"reason"`
		RetryDelay string `json:"retryDelay"`
	} `json:"details"`
}

// readFailure parses the failure in a body, which may be a list of one (Gemini) or no JSON at all (proxies).
func readFailure(body []byte) failure {
	var parsed struct {
		Error json.RawMessage `json:"error"`
	}
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	if json.Unmarshal(body, &parsed) != nil || parsed.Error == nil {
		return failure{Message: string(body)}
	}
	var f failure
	if json.Unmarshal(parsed.Error, &f) == nil {
		return f
	}
	var text string
	if json.Unmarshal(parsed.Error, &text) == nil {
		return failure{Message: text}
	}
	return failure{Message: string(parsed.Error)}
}

// StreamFault returns the failure that a stream has in place of an answer.
func StreamFault(data []byte) error {
	f := readFailure(data)
	return &Fault{Code: f.code(), Text: f.Message}
}

// code returns the provider's most specific word for the failure.
func (f *failure) code() string {
	for _, d := range f.Details {
		if d.Reason != "" {
			return d.Reason
		}
	}
	var word string
	if json.Unmarshal(f.Code, &word) != nil {
		word = ""
	}
	return cmp.Or(word, f.Type, f.Status)
}

func (f *failure) retryAfter() time.Duration {
	for _, d := range f.Details {
		if delay, err := time.ParseDuration(d.RetryDelay); err == nil {
			return bound(float64(delay))
		}
	}
	return 0
}

var (
	tooLong = regexp.MustCompile(
		`(?i)context_length_exceeded|request_too_large|prompt is too long|maximum context length|context (?:window|size|length)|input token count.*exceeds|exceeds the maximum number of tokens|too many tokens in`)
	// Not the word billing alone: providers name it in rate limits too.
	unpaid = regexp.MustCompile(
		`(?i)insufficient_quota|billing_error|billing_not_active|credit balance is too low|insufficient credit`)
	filter = regexp.MustCompile(
		`(?i)content_filter|content_policy|content management policy|safety system|prohibited_content`)
	badKey = regexp.MustCompile(
		`(?i)API_KEY_INVALID|invalid_api_key|api key not valid|authentication_error|permission_error`)
	full    = regexp.MustCompile(`(?i)overloaded|server_busy|engine_overloaded|\bUNAVAILABLE\b`)
	limited = regexp.MustCompile(`(?i)rate_limit|RESOURCE_EXHAUSTED`)
)

// reasonOf classifies a failure by its status and the provider's words.
func reasonOf(status int, code, message string) error {
	words := code + " " + message
	switch {
	case badKey.MatchString(code), status == 400 && badKey.MatchString(message):
		return llm.ErrBadKey
	case status < 500 && unpaid.MatchString(words), status == 402:
		return llm.ErrNoCredit
	case status == 413, status == 400 && tooLong.MatchString(words), tooLong.MatchString(code):
		return llm.ErrContextTooLong
	case status < 500 && filter.MatchString(words):
		return llm.ErrRefused
	case status == 429, limited.MatchString(code):
		return llm.ErrRateLimited
	case status == 401, status == 403:
		return llm.ErrBadKey
	case status == 404, status >= 300 && status < 400:
		return llm.ErrNoModel
	case status == 503, status == 529, full.MatchString(code):
		return llm.ErrOverloaded
	case status < 300, status == 408, status == 409, status >= 500:
		return llm.ErrUnavailable
	default:
		return llm.ErrBadRequest
	}
}

// hintOf returns advice for a person about a status with a more specific meaning than its reason.
func hintOf(status int) string {
	if status >= 300 && status < 400 {
		return "the base URL must be the address that answers, redirects are not followed"
	}
	return ""
}

// keyLike matches text that looks like a key of one of the providers, whole or masked.
var keyLike = regexp.MustCompile(`\b(?:sk|gsk|xai)-[\w*.-]{6,}|\bAIza[\w*-]{10,}|(?i)bearer [\w*.~+/=-]{6,}`)

// clean makes a provider's text suitable for an error: one line, short, without keys.
func clean(text, key string) string {
	if key != "" {
		text = strings.ReplaceAll(text, key, "(key)")
	}
	text = keyLike.ReplaceAllString(text, "(key)")
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return r <= ' ' || r == 0x7f
	}), " ")
	const limit = 500
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit]) + "..."
	}
	return text
}
