/** Who calls operations, what a caller may do, and whom its writes name as their author. */
import { invalid, type Author, type KeyId, type WebchatSessionId } from "../kernel/index.ts";

/** The scopes of API keys. No scope includes another. */
export const keyScopes = [
  "messages:read",
  "messages:write",
  "contacts:read",
  "contacts:write",
  "conversations:read",
  "conversations:write",
  "agents:read",
  "agents:write",
  "agents:trigger",
  "webhooks:read",
  "webhooks:write",
  "events:read",
  "keys:manage",
  "senders:manage",
  "operators:manage",
  "sandbox:write",
] as const;

/** A permission of an API key. No scope includes another. */
export type KeyScope = (typeof keyScopes)[number];

/** The required scopes that were not granted. */
export function missingScopes(
  required: readonly KeyScope[],
  granted: readonly KeyScope[],
): KeyScope[] {
  return required.filter((scope) => !granted.includes(scope));
}

/**
 * The caller: an API key, an operator on a page or a visitor's browser over HTTP, or the host
 * application in process, which may do everything in its scope.
 */
export type Caller = KeyCaller | OperatorCaller | VisitorCaller | { readonly type: "host" };

/** A person of the host application who uses a page, such as the inbox. */
export interface OperatorCaller {
  readonly type: "operator";
  readonly operator: OperatorProfile;
  readonly may: readonly KeyScope[];
}

/** A person of the host application, as a page shows them. */
export interface OperatorProfile {
  /** The id that the host application uses for the person, at most 200 characters. */
  readonly id: string;
  /** The name of the person, at most 200 characters. */
  readonly name: string;
  /** The http or https URL of a picture of the person. By default the page shows initials. */
  readonly avatar_url?: string | undefined;
}

/** A visitor's browser. It may only access its own session. */
export interface VisitorCaller {
  readonly type: "visitor";
  readonly session_id: WebchatSessionId;
}

export interface KeyCaller {
  readonly type: "key";
  readonly key_id: KeyId;
  readonly scopes: readonly KeyScope[];
  /** The hash of the presented secret, which can end before its key if it is replaced. */
  readonly secret_hash: string;
}

/** Returns the scopes of a caller. The host application has all of them, and a visitor has none. */
export function scopesOf(caller: Caller): readonly KeyScope[] {
  switch (caller.type) {
    case "key":
      return caller.scopes;
    case "operator":
      return caller.may;
    case "visitor":
      return [];
    case "host":
      return keyScopes;
  }
}

/** Returns the author of a message that the caller sends outside a conversation. */
export function authorOf(caller: Caller): Author {
  if (caller.type === "operator") return { type: "human", id: caller.operator.id };
  return caller.type === "key" ? { type: "api", id: caller.key_id } : { type: "api" };
}

/**
 * Returns the id of the person who writes or decides. An operator is always that person. Programs
 * name the person as `author_id`, or nobody.
 * @throws TidingsError `validation_failed` if an operator names an author
 */
export function personOf(caller: Caller, author_id: string | undefined): string | undefined {
  if (caller.type !== "operator") return author_id;
  if (author_id === undefined) return caller.operator.id;
  const message = "must be absent: the author is the operator who sends the request";
  throw invalid([{ pointer: "/author_id", code: "not_allowed", message }]);
}
