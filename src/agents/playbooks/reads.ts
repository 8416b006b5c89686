import { iso, notFound, withId, type ById } from "../../kernel/index.ts";
import { listQuery, type Query } from "../../operations/index.ts";
import { getPlaybookSchema, type GetPlaybook } from "./input-types.ts";
import { playbookById, playbooks, playbookVersionOf, type PlaybookRow } from "./rows.ts";
import type { Playbook } from "./types.ts";

export const getPlaybook: Query<GetPlaybook & ById, Playbook> = {
  kind: "query",
  name: "playbooks.get",
  input: () => withId(getPlaybookSchema, "The id of the playbook."),
  async run(reads, { id, version }) {
    const playbook = await reads.get(playbookById, [id]);
    if (playbook === undefined) throw notFound("playbook", id);
    if (version === undefined || version === playbook.revision) return playbookResource(playbook);
    const old = await reads.get(playbookVersionOf, [playbook.id, version]);
    if (old === undefined) throw notFound("version of the playbook");
    const { revision, definition, created_at: updated_at } = old;
    return playbookResource({ ...playbook, revision, definition, updated_at });
  },
};

/** Newest first. */
export const listPlaybooks = listQuery({
  name: "playbooks.list",
  index: playbooks.primary,
  order: "descending",
  show: (rows) => rows.map(playbookResource),
});

type Shown = Pick<
  PlaybookRow,
  "id" | "enabled" | "revision" | "definition" | "created_at" | "updated_at"
>;

export function playbookResource(playbook: Shown): Playbook {
  const { id, enabled, revision, definition, created_at, updated_at } = playbook;
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
