import type { PlaybookId } from "../../kernel/index.ts";
import { boolean, integer, json, type RowOf, scoped, text, time } from "../../ports/index.ts";
import type { PlaybookDefinition } from "./types.ts";

export const playbooks = scoped("playbooks", {
  id: text<PlaybookId>(),
  /**
   * A number from 0, below the account's maximum of playbooks. It is unique, which enforces the
   * maximum.
   */
  ordinal: integer(),
  enabled: boolean(),
  /**
   * The number of the current version. Older versions are kept. The column is not called `version`,
   * because that is the row's version guard.
   */
  revision: integer(),
  definition: json<PlaybookDefinition>(),
  created_at: time(),
  updated_at: time(),
});
export interface PlaybookRow extends RowOf<typeof playbooks> {}

export const playbookById = playbooks.key("id");
export const playbookByOrdinal = playbooks.unique("by_ordinal", ["ordinal"]);

/** Every version of a playbook. A conversation keeps the version that it started with. */
export const playbookVersions = scoped("playbook_versions", {
  playbook_id: text<PlaybookId>(),
  revision: integer(),
  definition: json<PlaybookDefinition>(),
  created_at: time(),
});

export const playbookVersionOf = playbookVersions.key("playbook_id", "revision");
