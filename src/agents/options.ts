import type { Runtime } from "../operations/index.ts";
import type { Action, AgentModel } from "../ports/index.ts";

/** What thinks for agents, and what they can do in your world. */
export interface AgentOptions {
  /** Such as `rules()` or `languageModel(…)` of "tidings/models", or a function of your own. */
  readonly model: AgentModel | AgentModel["respond"];
  /** Your functions that agents may call, each by the name that an agent lists; up to 200. */
  readonly actions?: readonly Action[];
  /** Takes what is nobody's business out of a text before a model sees it: of messages, names, slots and observations. */
  readonly redact?: (text: string) => string;
}

export interface AgentSettings {
  readonly model: AgentModel;
  readonly actions: ReadonlyMap<string, Action>;
  readonly redact: (text: string) => string;
}

/** What agents' jobs run with. */
export interface AgentRuntime extends Runtime {
  /** Undefined when no model is set up in this engine. */
  readonly agents: AgentSettings | undefined;
}
