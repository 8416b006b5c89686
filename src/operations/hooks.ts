import type { Tx } from "../store/index.ts";
import type { HookHandler, Services } from "./runtime.ts";

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
