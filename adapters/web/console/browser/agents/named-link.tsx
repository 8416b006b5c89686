/** Links to agents and playbooks, by their names. */
import type { JSX } from "preact";
import type { Agent, Playbook } from "../../../../../src/index.ts";
import { api, linkTo, may, useResource } from "../../../shared/browser/index.ts";

interface NamedLinkProps {
  readonly id: string;
  readonly path: "v1/agents" | "v1/playbooks";
  readonly href: string;
}

/** A link with the name of its target. While the name is not known, the link shows the id. */
function NamedLink({ id, path, href }: NamedLinkProps): JSX.Element {
  const named = useResource<Agent | Playbook | undefined>(
    async (signal) =>
      may("agents:read") ? api.get(`${path}/${encodeURIComponent(id)}`, { signal }) : undefined,
    [path, id],
  );
  const name = named.data?.name;
  return (
    <a class={name === undefined ? "mono" : undefined} href={href}>
      <bdi>{name ?? id}</bdi>
    </a>
  );
}

export const AgentLink = ({ id }: { readonly id: string }): JSX.Element => (
  <NamedLink id={id} path="v1/agents" href={linkTo(["agents", id])} />
);

interface PlaybookLinkProps {
  readonly id: string;
  /** The run that the playbook's page shows. */
  readonly run: string;
  readonly agent: string;
}

export const PlaybookLink = ({ id, run, agent }: PlaybookLinkProps): JSX.Element => (
  <NamedLink
    id={id}
    path="v1/playbooks"
    href={linkTo(["agents", "playbooks", id], { run, agent })}
  />
);
