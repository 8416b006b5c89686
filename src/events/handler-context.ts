import type { AccountId, Mode, Scope } from "../kernel/index.ts";

/** Returns the handle of an account in a mode. Its methods are those of higher modules. */
export type AccountOf = (scope: Scope) => object;

/** The context of a handler of events. */
export interface HandlerContext extends Scope {
  readonly account: object;
}

/**
 * Creates the handle of the account when a handler first reads it. Most handlers never do, and each
 * message calls several handlers. It is a class, since an object literal with a getter takes 40
 * times as long to create.
 */
export class LazyContext implements HandlerContext {
  readonly account_id: AccountId;
  readonly mode: Mode;
  readonly #accountOf: AccountOf;
  #account: object | undefined;

  constructor({ account_id, mode }: Scope, accountOf: AccountOf) {
    this.account_id = account_id;
    this.mode = mode;
    this.#accountOf = accountOf;
  }

  get account(): object {
    const { account_id, mode } = this;
    return (this.#account ??= this.#accountOf({ account_id, mode }));
  }
}
