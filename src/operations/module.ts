import type { Collection } from "../ports/index.ts";
import type { ApiRoute } from "./api-route.ts";
import type { HookHandler } from "./runtime.ts";

/** A group of routes in the OpenAPI document. */
export interface Tag {
  readonly name: string;
  readonly description: string;
}

/** The parts that a module contributes. `src/modules.ts` composes the engine from them. */
export interface Module {
  /** The collections that it stores. */
  readonly collections?: readonly Collection[];
  readonly tags?: readonly Tag[];
  readonly routes?: readonly ApiRoute[];
  /** Its handlers for the hooks of lower modules. */
  readonly hookHandlers?: readonly HookHandler[];
}
