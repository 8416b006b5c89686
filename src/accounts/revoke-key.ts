import { type ById, byIdSchema, notFound } from "../kernel/index.ts";
import { keyById, keys } from "./key-rows.ts";
import type { Command } from "../operations/index.ts";

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
