import { drawKey } from "../domain/keys/format.ts";
import { keyResource } from "../domain/keys/resource.ts";
import { keyById, keys } from "../domain/keys/rows.ts";
import { type CreatedKey, defaultGraceSeconds, type RotateKey, rotateKeySchema } from "../domain/keys/types.ts";
import { notFound } from "../errors.ts";
import type { Command } from "../operation.ts";
import { refuseWider } from "./steps/mint-key.ts";

/** Gives a key a new secret. The old one lives on for the grace time; the one before that ends now. */
export const rotateKey: Command<RotateKey, CreatedKey> = {
  kind: "command",
  name: "apiKeys.rotate",
  input: () => rotateKeySchema,
  status: 200,
  async run(tx, { id, grace_seconds = defaultGraceSeconds }, { scope, caller, services }) {
    const key = await tx.get(keyById, [scope.account_id, scope.mode, id]);
    if (key === undefined || key.revoked_at !== null) throw notFound("API key");
    refuseWider(key.scopes, caller);
    const { text: secret, hash, last_four } = drawKey(scope.mode, services.random);
    const rotated = tx.update(keys, key, {
      secret_hash: hash,
      last_four,
      previous_hash: grace_seconds === 0 ? null : key.secret_hash,
      previous_expires_at: grace_seconds === 0 ? null : tx.now + grace_seconds * 1_000,
    });
    return { ...keyResource(rotated), secret };
  },
  onReplay: (key) => ({ ...key, secret: null }),
};
