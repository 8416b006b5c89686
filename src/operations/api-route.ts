import type { z } from "zod";
import type {
  Command,
  EventStream,
  KeyScope,
  Procedure,
  Query,
  RowProcedure,
} from "./operation.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The engine as routes without a key see it. */
export interface Service {
  /**
   * Resolves when the storage responds. @throws TidingsError `storage_unavailable`, `shutting_down`
   */
  health(): Promise<void>;
}

/** An operation that needs no key. `mount` is the path above `/v1`. */
export interface PublicOperation {
  readonly kind: "open";
  readonly name: string;
  answer(service: Service, mount: string): Promise<string>;
}

/** A carrier's callback. Its signature covers the bytes of the body, so the body is not parsed. */
export interface Callback {
  readonly kind: "callback";
  readonly name: string;
}

interface RouteFacts {
  readonly method: Method;
  /** Segments that begin with a colon are parameters: `/v1/messages/:id`. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
}

/**
 * A route of the HTTP API. The definition determines matching, scopes, validation and the OpenAPI
 * document. `scopes`: a key needs all of them. An empty list accepts any key.
 */
export type ApiRoute =
  | (RouteFacts & {
      readonly scopes: readonly KeyScope[];
      readonly operation:
        Command<unknown, unknown> | Procedure<unknown, unknown> | Query<unknown, unknown>;
      /** The schema of the response. Absent if the response has no body. */
      readonly response?: z.ZodType;
      /** `batch`: accepts a body up to the limit `batchBodyBytes`. */
      readonly body?: "batch";
      /** Also accepts NDJSON: one row per line, and one line in the response per row. */
      readonly rows?: RowProcedure<unknown, unknown>;
    })
  | (RouteFacts & {
      readonly scopes: readonly KeyScope[];
      readonly operation: EventStream<unknown>;
    })
  | (RouteFacts & {
      /**
       * For a visitor's browser. Needs the token of the session in the path instead of an API key.
       * Pages of other origins may call it.
       */
      readonly visitor: true;
      readonly operation: Command<unknown, unknown> | EventStream<unknown>;
      readonly response?: z.ZodType;
    })
  | (RouteFacts & { readonly operation: Callback })
  | (RouteFacts & { readonly operation: PublicOperation; readonly response: z.ZodType });

/** A route that needs a key or a token. Its operation has an input. */
export type Guarded = Extract<
  ApiRoute,
  { readonly scopes: readonly KeyScope[] } | { readonly visitor: true }
>;

export const isGuarded = (route: ApiRoute): route is Guarded =>
  "scopes" in route || "visitor" in route;
