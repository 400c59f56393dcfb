// Package llm calls language models of several providers, within limits and budgets, and keeps records of the calls and
// their costs.
//
// # Clients
//
// A [Client] calls one model of one provider: with tools, a form of the text, or a stream, and it counts the tokens.
// Packages llm/openai (for all servers with chat completions), llm/anthropic and llm/gemini have one each, so that a
// program links only the SDKs it uses. A client neither retries nor waits. Wrapping clients do, each for one purpose:
//
//	Retrying   sends a request again after a failure that passes within seconds
//	Limited    keeps rate limits, the host's and those that the provider reports
//	Metered    puts each call on record, keeps budgets, and gives a kept answer to an equal request
//	Fallback   asks the next client when one fails
//
// A failure is an [*Error]: the provider's message, one of the reasons ErrRateLimited, ErrOverloaded and so on, and a
// hint for people. Keys are in no error and no log. [HandlerError] translates it for the job queue: a rate limit, a
// spent budget and a refused key defer the job, a permanently wrong request ends it, any other failure is retried.
//
// # Records
//
// [Records] store each call with its tokens, cost, latency and trace (llm_calls), the spending of each day (llm_spend),
// for a day the answers (llm_answers), unless an [AnswerCache] such as package llm/rediscache does, and the outages
// (llm_outages). The answer of a call is stored before its caller sees it, so that a job that fails later does not ask
// again. An [Outage] is a model that is not asked until a person acts or a day ends.
//
// # Below it
//
// Package llm/decide decides by a model about mail, llm/enrich finds out what mail means, and llm/guidance keeps the
// user's instructions to the model.
// llm/openai, llm/anthropic and llm/gemini are the clients of providers, llm/rediscache keeps answers in Redis, and
// llm/llmtest has clients for tests.
package llm
