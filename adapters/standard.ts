import type { AgentOptions, EngineOptions, HttpOptions } from "../src/index.ts";
import { refuseArguments } from "../src/kernel/index.ts";
import type { SentimentAnalyzer } from "../src/ports/index.ts";
import { httpClient } from "./http-client/index.ts";
import { rules } from "./models/index.ts";
import { sentiment } from "./sentiment/index.ts";

/** The engine options that `standard()` returns. */
export interface StandardOptions extends Pick<EngineOptions, "http" | "agents" | "sentiment"> {
  /** Sends webhooks to public addresses, with `httpClient()` of "tidings/http-client". */
  readonly http: HttpOptions;
  /** Lets agents answer offline, with the model `rules()` of "tidings/models" and no actions. */
  readonly agents: AgentOptions;
  /** Scores English messages offline, with `sentiment()` of "tidings/sentiment". */
  readonly sentiment: SentimentAnalyzer;
}

/**
 * Returns the engine options that webhooks, agents and sentiment need, for
 * `new MessagingEngine({ ...standard(), storage, transports })`. Nothing needs an external service.
 * An option that follows `...standard()` replaces the one of the same name. Each call returns new
 * objects.
 */
export function standard(): StandardOptions;
export function standard(...given: readonly unknown[]): StandardOptions {
  refuseArguments("standard", given);
  return {
    http: { client: httpClient() },
    agents: { model: rules() },
    sentiment: sentiment(),
  };
}
