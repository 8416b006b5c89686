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
