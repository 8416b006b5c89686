import type * as z from "zod";
import type { KeyScope } from "./caller.ts";
import type { EventStream } from "./event-stream.ts";
import type { Health } from "./health.ts";
import type { Command, Procedure, Query, RowProcedure, SignalOperation } from "./operation.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

interface RouteFacts {
  readonly method: Method;
  /** Segments that begin with a colon are parameters: `/v1/messages/:id`. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** An example of a body. It holds whenever it is sent, so it has no time that must be ahead. */
  readonly example?: Readonly<Record<string, unknown>>;
}

/**
 * A route of the HTTP API. The definition determines matching, scopes, validation and the OpenAPI
 * document. `scopes`: a key needs all of them. An empty list accepts any key.
 */
export type ApiRoute =
  | (RouteFacts & {
      readonly scopes: readonly KeyScope[];
      readonly operation:
        | Command<unknown, unknown>
        | Procedure<unknown, unknown>
        | Query<unknown, unknown>
        | SignalOperation<unknown>;
      /** The schema of the response. Absent if the response has no body. */
      readonly response?: z.ZodType;
      /** `batch`: accepts a body up to the limit `batchBodyBytes`. */
      readonly body?: "batch";
      /** Also accepts NDJSON: one row per line, and one line in the response per row. */
      readonly rows?: RowProcedure<unknown, unknown>;
    })
  | (RouteFacts & {
      readonly scopes: readonly KeyScope[];
      readonly operation: EventStream<unknown, unknown>;
    })
  | (RouteFacts & {
      /**
       * For a visitor's browser. Needs the token of the session in the path instead of an API key.
       * Pages of other origins may call it.
       */
      readonly visitor: true;
      readonly operation:
        | Command<unknown, unknown>
        | Query<unknown, unknown>
        | EventStream<unknown, unknown>
        | SignalOperation<unknown>;
      readonly response?: z.ZodType;
    })
  | (RouteFacts & { readonly operation: Callback })
  | (RouteFacts & {
      readonly operation: PublicOperation | PublicDocument;
      readonly response: z.ZodType;
    });

/** An operation that needs no key. */
export interface PublicOperation {
  readonly kind: "public";
  readonly name: string;
  /** Whether it may respond with 503, with a body of the same schema. */
  readonly mayBeUnavailable?: boolean;
  /** `health` returns whether the engine can commit commands now. */
  answer(
    health: () => Promise<Health>,
  ): Promise<{ readonly status: 200 | 503; readonly body: string }>;
}

/** A document that is the same for every caller. It needs no key. */
export interface PublicDocument {
  readonly kind: "document";
  readonly name: string;
  /** Returns the document of an API that is mounted at this path, such as `/api` or "". */
  readonly json: (mount: string) => Promise<string>;
}

/** A carrier's callback. Its signature covers the bytes of the body, so the body is not parsed. */
export interface Callback {
  readonly kind: "callback";
  readonly name: string;
}

/** A route that needs a key or a token. Its operation has an input. */
export type Guarded = Extract<
  ApiRoute,
  { readonly scopes: readonly KeyScope[] } | { readonly visitor: true }
>;

/** Whether an operation takes an idempotency key. A repetition of the others changes nothing. */
export function takesKey(operation: {
  readonly kind: ApiRoute["operation"]["kind"];
  readonly takesNoKey?: true;
}): boolean {
  const isChange = operation.kind === "command" || operation.kind === "procedure";
  return isChange && operation.takesNoKey !== true;
}

export const isGuarded = (route: ApiRoute): route is Guarded =>
  "scopes" in route || "visitor" in route;
