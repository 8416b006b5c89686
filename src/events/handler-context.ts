import type { Scope } from "../kernel/index.ts";

/** Returns the handle of an account in a mode. Its methods are those of higher modules. */
export type AccountOf = (scope: Scope) => object;

/** The context of a handler of events. */
export interface HandlerContext extends Scope {
  readonly account: object;
}

/**
 * Adds the handle of the account. It is created when a handler first reads it, because most
 * handlers do not, and each message calls some.
 */
export function withAccount<Context extends Scope>(
  context: Context,
  accountOf: AccountOf,
): Context & HandlerContext {
  const { account_id, mode } = context;
  let account: object | undefined;
  return {
    ...context,
    get account() {
      return (account ??= accountOf({ account_id, mode }));
    },
  };
}
