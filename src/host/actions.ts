/** Actions as the host application writes them: `CallContext` with the handle of the account. */
import { optionsObject, parseOptions } from "../kernel/index.ts";
import { actionOption, type ActionPort, type CallContext } from "../ports/index.ts";
import type { AccountHandle } from "./handles/handles.ts";

/** What the engine tells an action about a call. */
export interface ActionContext extends CallContext<AccountHandle> {}

/**
 * A function of the host application that agents may call. The model and playbooks see its result:
 * JSON of up to 16 KiB and 100 levels. An exception counts as `action_failure`, and the run stores
 * its message.
 */
export interface Action<Input = unknown> extends ActionPort<Input, AccountHandle> {}

/**
 * Returns the given action. Infers the type of its input from its schema.
 * @throws TidingsError `invalid_option` when it is not a valid action
 */
export function action<Input>(definition: Action<Input>): Action {
  return parseOptions("action: ", argumentsSchema, { definition }).definition;
}

const argumentsSchema = optionsObject({ definition: actionOption });
