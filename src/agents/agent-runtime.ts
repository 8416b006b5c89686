import type { AccountOf } from "../events/index.ts";
import type { Runtime } from "../operations/index.ts";
import type { ActionPort, AgentModel } from "../ports/index.ts";

/** The option `agents` of the engine, with defaults. */
export interface AgentSettings {
  readonly model: AgentModel;
  readonly actions: ReadonlyMap<string, ActionPort>;
  readonly redact: (text: string) => string;
}

/** What the agents' jobs need. */
export interface AgentRuntime extends Runtime {
  /** Undefined if the engine has no option `agents`. */
  readonly agents: AgentSettings | undefined;
  /** Returns the handle that an action gets. */
  readonly accountOf: AccountOf;
}
