import type { PlaybookId } from "../../kernel/index.ts";
import {
  boolean,
  integer,
  json,
  nullable,
  scoped,
  text,
  time,
  type RowOf,
} from "../../ports/index.ts";
import type { PlaybookDefinition } from "./types.ts";

/** The maximum number of playbooks per account and mode. */
export const maxPlaybooks = 500;

export const playbooks = scoped("playbooks", {
  id: text<PlaybookId>(),
  /**
   * A number from 0, below the account's maximum of playbooks. It is unique, which enforces the
   * maximum.
   */
  ordinal: integer(),
  enabled: boolean(),
  /**
   * The number of the current version. The column is not called `version`, because that is the
   * row's version guard.
   */
  revision: integer(),
  definition: json<PlaybookDefinition>(),
  created_at: time(),
  updated_at: time(),
});
export interface PlaybookRow extends RowOf<typeof playbooks> {}

export const playbookById = playbooks.key("id");
export const playbookByOrdinal = playbooks.unique("by_ordinal", ["ordinal"]);

/**
 * The versions of a playbook. A conversation keeps the version that it started with. An old version
 * is removed when it has not been used for the retention time: see `playbookVersionReaper`.
 */
export const playbookVersions = scoped("playbook_versions", {
  playbook_id: text<PlaybookId>(),
  revision: integer(),
  definition: json<PlaybookDefinition>(),
  created_at: time(),
  /**
   * When the version was replaced, or later was last found in use. Null while it is the playbook's
   * current version.
   */
  last_used_at: nullable(time()),
});

export const playbookVersionOf = playbookVersions.key("playbook_id", "revision");
/** Old versions of all accounts, the least recently used first. */
export const playbookVersionsByUse = playbookVersions.acrossScopes.index(
  "by_last_used_at",
  ["last_used_at"],
  { where: { column: "last_used_at", present: true } },
);
