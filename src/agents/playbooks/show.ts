import { iso } from "../../kernel/index.ts";
import type { PlaybookRow } from "./rows.ts";
import type { Playbook } from "./types.ts";

type Shown = Pick<
  PlaybookRow,
  "id" | "enabled" | "revision" | "definition" | "created_at" | "updated_at"
>;

export function playbookResource({
  id,
  enabled,
  revision,
  definition,
  created_at,
  updated_at,
}: Shown): Playbook {
  const { name, description, ...others } = definition;
  return {
    id,
    name,
    description,
    enabled,
    ...others,
    version: revision,
    created_at: iso(created_at),
    updated_at: iso(updated_at),
  };
}
