import type { Tx } from "../store/index.ts";
import type { HookHandler, Services } from "./runtime.ts";
import type { Collection } from "../ports/index.ts";
import type { JobTable } from "../queue/index.ts";
import type { ApiRoute } from "./api-route.ts";
import type { HandleTable } from "./handle-methods.ts";

/**
 * A point in a transaction at which higher modules may act. The module that reaches the point
 * defines the hook and runs it with `F`, the facts of that moment. It does not know who handles it.
 */
export interface Hook<F extends object> {
  readonly name: string;
  /** Never set. Carries the type of the facts. */
  readonly facts?: F;
}

export function defineHook<F extends object>(name: string): Hook<F> {
  return { name };
}

export function onHook<F extends object>(
  { name }: Hook<F>,
  run: (tx: Tx, facts: F, services: Services) => Promise<void>,
): HookHandler {
  // `runHook` passes the facts of the hook with this name.
  return { hook: name, run };
}

/** Runs the handlers of a hook, one after the other, in the order of the modules. */
export async function runHook<F extends object>(
  tx: Tx,
  services: Services,
  { name }: Hook<F>,
  facts: NoInfer<F>,
): Promise<void> {
  for (const handler of services.hookHandlers) {
    if (handler.hook === name) await handler.run(tx, facts, services);
  }
}

/** A group of routes in the OpenAPI document. */
export interface Tag {
  readonly name: string;
  readonly description: string;
}

/** The parts that a module contributes. `src/modules.ts` composes the engine from them. */
export interface Module<
  Jobs extends Partial<JobTable<never>> = object,
  Handles extends HandleTable = HandleTable,
> {
  /** The collections that it stores. */
  readonly collections?: readonly Collection[];
  /** The definitions of its jobs, by kind. */
  readonly jobs?: Jobs;
  /** The methods that its operations add to the handles of accounts. */
  readonly handles?: Handles;
  readonly tags?: readonly Tag[];
  readonly routes?: readonly ApiRoute[];
  /** Its handlers for the hooks of lower modules. */
  readonly hookHandlers?: readonly HookHandler[];
}
