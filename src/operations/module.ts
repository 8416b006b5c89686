import type { Collection } from "../ports/index.ts";
import type { JobTable } from "../queue/index.ts";
import type { ApiRoute } from "./api-route.ts";
import type { HandleTable } from "./handle-methods.ts";
import type { HookHandler } from "./runtime.ts";

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
