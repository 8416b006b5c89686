import type { PlaybookId } from "../../kernel/index.ts";
import { boolean, integer, json, type RowOf, scoped, text, time } from "../../ports/index.ts";
import type { PlaybookDefinition } from "./types.ts";

export const playbooks = scoped("playbooks", {
  id: text<PlaybookId>(),
  /** One of as many as an account may have. */
  slot: integer(),
  enabled: boolean(),
  /** Its current version; each that there was is kept. */
  revision: integer(),
  definition: json<PlaybookDefinition>(),
  created_at: time(),
  updated_at: time(),
});
export interface PlaybookRow extends RowOf<typeof playbooks> {}

export const playbookById = playbooks.key("id");
export const playbookBySlot = playbooks.unique("by_slot", ["slot"]);

/** A playbook as it was: who is in the middle of it goes on with that. */
export const playbookVersions = scoped("playbook_versions", {
  playbook_id: text<PlaybookId>(),
  revision: integer(),
  definition: json<PlaybookDefinition>(),
  created_at: time(),
});
export interface PlaybookVersionRow extends RowOf<typeof playbookVersions> {}

export const playbookVersionOf = playbookVersions.key("playbook_id", "revision");
