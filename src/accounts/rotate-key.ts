import { drawKey } from "./key-format.ts";
import { keyResource } from "./key-resource.ts";
import { keyById, keys } from "./key-rows.ts";
import { outlives } from "./key-rules.ts";
import {
  type CreatedKey,
  defaultGraceSeconds,
  type RotateKey,
  rotateKeySchema,
} from "./key-types.ts";
import { notFound, TidingsError } from "../kernel/index.ts";
import type { Command } from "../operations/index.ts";
import { endOf, refuseWider } from "./mint-key.ts";

/** Gives a key a new secret. The old one lives on for the grace time; the one before that ends now. */
export const rotateKey: Command<RotateKey, CreatedKey> = {
  kind: "command",
  name: "apiKeys.rotate",
  input: () => rotateKeySchema,
  status: 200,
  async run(tx, { id, grace_seconds = defaultGraceSeconds }, { scope, caller, services }) {
    const key = await tx.get(keyById, [id]);
    if (key === undefined || key.revoked_at !== null) throw notFound("API key");
    refuseWider(key.scopes, caller);
    if (outlives(key.expires_at, endOf(caller))) {
      throw new TidingsError(
        "insufficient_scope",
        "This key ends before the one that it would give a new secret.",
      );
    }
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
