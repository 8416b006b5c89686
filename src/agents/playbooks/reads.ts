import { playbookById, type PlaybookRow, playbooks } from "./rows.ts";
import { type ListPlaybooks, listPlaybooksSchema, type Playbook } from "./types.ts";
import { type ById, byIdSchema, iso, notFound, type Page } from "../../kernel/index.ts";
import { mapPage, page, type Query } from "../../operations/index.ts";

export const getPlaybook: Query<ById, Playbook> = {
  kind: "query",
  name: "playbooks.get",
  input: () => byIdSchema,
  async run(reads, { id }) {
    const playbook = await reads.get(playbookById, [id]);
    if (playbook === undefined) throw notFound("playbook");
    return playbookResource(playbook);
  },
};

/** Newest first. */
export const listPlaybooks: Query<ListPlaybooks, Page<Playbook>> = {
  kind: "query",
  name: "playbooks.list",
  input: () => listPlaybooksSchema,
  async run(reads, input, call) {
    const walk = {
      index: playbooks.primary,
      prefix: [],
      order: "descending",
      operation: "playbooks.list",
      filters: {},
      input,
    } as const;
    return mapPage(await page(reads, walk, call), playbookResource);
  },
};

export function playbookResource({
  id,
  enabled,
  revision,
  definition,
  created_at,
  updated_at,
}: PlaybookRow): Playbook {
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
