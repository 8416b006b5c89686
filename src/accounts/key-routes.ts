import { createKey } from "./create-key.ts";
import { revokeKey } from "./revoke-key.ts";
import { rotateKey } from "./rotate-key.ts";
import { pageSchema } from "../kernel/index.ts";
import { listKeys } from "./list-keys.ts";
import { createdKeySchema, keySchema } from "./key-types.ts";
import type { Route } from "../operations/index.ts";

const manage = { tag: "API keys", scopes: ["keys:manage"] } as const;

export const apiKeyRoutes: readonly Route[] = [
  {
    ...manage,
    method: "POST",
    path: "/v1/api-keys",
    operation: createKey,
    summary: "Create an API key",
    description:
      "Its secret is shown this once. A key can't mint one that may do more than itself.",
    response: createdKeySchema,
  },
  {
    ...manage,
    method: "GET",
    path: "/v1/api-keys",
    operation: listKeys,
    summary: "List API keys",
    description: "Those of this key's mode, revoked ones included, newest first.",
    response: pageSchema(keySchema).meta({ id: "ApiKeyPage" }),
  },
  {
    ...manage,
    method: "DELETE",
    path: "/v1/api-keys/:id",
    operation: revokeKey,
    summary: "Revoke an API key",
    description: "At once, with the secrets before its rotations.",
  },
  {
    ...manage,
    method: "POST",
    path: "/v1/api-keys/:id/rotate",
    operation: rotateKey,
    summary: "Rotate an API key",
    description: "A new secret for the same key; the old one works on for a while.",
    response: createdKeySchema,
  },
];
