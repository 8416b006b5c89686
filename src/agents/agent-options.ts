import type { Runtime } from "../operations/index.ts";
import type { Action, AgentModel } from "../ports/index.ts";

/** The model of the agents, and the actions that they may call. */
export interface AgentOptions {
  /** For example `rules()` or `languageModel(…)` from "tidings/models", or your own function. */
  readonly model: AgentModel | AgentModel["respond"];
  /** Functions that agents may call. An agent lists the names of its actions. At most 200. */
  readonly actions?: readonly Action[] | undefined;
  /**
   * Removes private data from messages, names, slots and observations before the model sees them.
   * Default: no change.
   */
  readonly redact?: ((text: string) => string) | undefined;
}

export interface AgentSettings {
  readonly model: AgentModel;
  readonly actions: ReadonlyMap<string, Action>;
  readonly redact: (text: string) => string;
}

/** What the agents' jobs need. */
export interface AgentRuntime extends Runtime {
  /** Undefined if the engine has no option `agents`. */
  readonly agents: AgentSettings | undefined;
}
