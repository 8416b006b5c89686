import type { z } from "zod";
import type { Command, EventStream, Procedure, Query, RowProcedure } from "./operation.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** What routes without a key may ask. */
export interface Service {
  /** Resolves when the storage answers. @throws TidingsError `storage_unavailable`, `shutting_down` */
  health(): Promise<void>;
}

/** Answers without a key. `mount` is the path above `/v1`. */
export interface OpenAnswer {
  readonly kind: "open";
  readonly name: string;
  answer(service: Service, mount: string): Promise<string>;
}

/** A carrier calls: its signature is over the bytes, so they are handed on untouched. */
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
 * One definition gives matching, scope, validation and the OpenAPI document.
 * `scopes`: a key needs all of them; none means any key.
 */
export type Route =
  | (RouteFacts & {
      readonly scopes: readonly string[];
      readonly operation:
        Command<unknown, unknown> | Procedure<unknown, unknown> | Query<unknown, unknown>;
      /** What the answer looks like; absent of commands that answer nothing. */
      readonly response?: z.ZodType;
      /** `batch`: takes a body up to the limit of batches. */
      readonly body?: "batch";
      /** Takes rows too, a line each, and reports on each by a line. */
      readonly rows?: RowProcedure<unknown, unknown>;
    })
  | (RouteFacts & { readonly scopes: readonly string[]; readonly operation: EventStream<unknown> })
  | (RouteFacts & {
      /** For a visitor's browser: the token of the session that the path names, not an API key. Pages of other origins may call it. */
      readonly visitor: true;
      readonly operation: Command<unknown, unknown> | EventStream<unknown>;
      readonly response?: z.ZodType;
    })
  | (RouteFacts & { readonly operation: Callback })
  | (RouteFacts & { readonly operation: OpenAnswer; readonly response: z.ZodType });

/** What needs a key or a token, and has an operation with an input. */
export type Guarded = Extract<
  Route,
  { readonly scopes: readonly string[] } | { readonly visitor: true }
>;

export const isGuarded = (route: Route): route is Guarded =>
  "scopes" in route || "visitor" in route;
