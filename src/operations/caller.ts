/** What a caller may do, and whom its writes name as their author. */
import { type Author, invalid } from "../kernel/index.ts";
import { type Caller, type KeyScope, keyScopes } from "./operation.ts";

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
