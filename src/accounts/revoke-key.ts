import { type ById, byIdSchema } from "../kernel/fields.ts";
import { keyById, keys } from "./key-rows.ts";
import { notFound } from "../kernel/errors.ts";
import type { Command } from "../operations/operation.ts";

/** Ends a key at once, for good. Its row stays, for the record. */
export const revokeKey: Command<ById, void> = {
  kind: "command",
  name: "apiKeys.revoke",
  input: () => byIdSchema,
  status: 204,
  async run(tx, { id }) {
    const key = await tx.get(keyById, [id]);
    if (key === undefined) throw notFound("API key");
    if (key.revoked_at === null) tx.update(keys, key, { revoked_at: tx.now });
  },
};
