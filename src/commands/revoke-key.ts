import { type ById, byIdSchema } from "../fields.ts";
import { keyById, keys } from "../domain/keys/rows.ts";
import { notFound } from "../errors.ts";
import type { Command } from "../operation.ts";

/** Ends a key at once, for good. Its row stays, for the record. */
export const revokeKey: Command<ById, void> = {
  kind: "command",
  name: "apiKeys.revoke",
  input: () => byIdSchema,
  status: 204,
  async run(tx, { id }, { scope }) {
    const key = await tx.get(keyById, [scope.account_id, scope.mode, id]);
    if (key === undefined) throw notFound("API key");
    if (key.revoked_at === null) tx.update(keys, key, { revoked_at: tx.now });
  },
};
