import type { Collection } from "../ports/index.ts";
import type { Route } from "./api-route.ts";
import type { HookHandler } from "./hooks.ts";

/** A group of routes in the OpenAPI document. */
export interface Tag {
  readonly name: string;
  readonly description: string;
}

/** What a module contributes to the engine. `src/modules.ts` composes the engine from these. */
export interface Module {
  /** What it keeps in the storage. */
  readonly collections?: readonly Collection[];
  readonly tags?: readonly Tag[];
  readonly routes?: readonly Route[];
  /** What it does at the hooks of lower modules. */
  readonly hookHandlers?: readonly HookHandler[];
}
