import { outlives } from "./key-rules.ts";
import {
  type CreatedKey,
  type CreateKey,
  createKeySchema,
  type KeyScope,
  scopes as allScopes,
} from "./key-types.ts";
import { invalid, millis } from "../kernel/index.ts";
import type { Command } from "../operations/index.ts";
import { endOf, mintKey, refuseWider } from "./mint-key.ts";

/** Makes a key of the caller's mode. */
export const createKey: Command<CreateKey, CreatedKey> = {
  kind: "command",
  name: "apiKeys.create",
  input: () => createKeySchema,
  status: 201,
  async run(tx, { name, mode, scopes: asked, expires_at }, { scope, caller, services }) {
    if (mode !== undefined && mode !== scope.mode) {
      const message = `A ${scope.mode} key can't make a ${mode} key.`;
      throw invalid([{ pointer: "/mode", code: "other_mode", message }]);
    }
    const own: readonly KeyScope[] =
      caller.type === "key" ? allScopes.filter((each) => caller.scopes.includes(each)) : allScopes;
    const scopes = asked ?? own;
    refuseWider(scopes, caller);
    const end = endOf(caller);
    const expires =
      expires_at === undefined ? end : expires_at === null ? null : millis(expires_at);
    if (expires !== null && expires <= tx.now) {
      throw invalid([{ pointer: "/expires_at", code: "past", message: "must be in the future" }]);
    }
    if (outlives(expires, end)) {
      throw invalid([
        {
          pointer: "/expires_at",
          code: "too_late",
          message: "must not be later than the end of the key that asks",
        },
      ]);
    }
    return mintKey(tx, { name, scopes, expires_at: expires }, services);
  },
  onReplay: (key) => ({ ...key, secret: null }),
};
