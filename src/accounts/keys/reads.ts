import { listQuery } from "../../operations/index.ts";
import { keys } from "./rows.ts";
import { keyResource } from "./show.ts";

/** Lists the keys of the caller's mode, newest first. Revoked keys are included. */
export const listKeys = listQuery({
  name: "apiKeys.list",
  index: keys.primary,
  order: "descending",
  show: (rows) => rows.map(keyResource),
});
