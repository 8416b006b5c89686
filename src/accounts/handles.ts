import { createKey, revokeKey, rotateKey } from "./key-commands.ts";
import { getAccount, getUsage, listKeys } from "./reads.ts";
import { command, commandById, commandByIdAndInput, method, query } from "../operations/index.ts";

export const accountHandles = {
  apiKeys: {
    create: command(createKey),
    list: query(listKeys),
    rotate: commandByIdAndInput(rotateKey),
    revoke: commandById(revokeKey),
  },
  get: method(
    ({ read }) =>
      () =>
        read(getAccount, {}),
  ),
  usage: query(getUsage),
};
