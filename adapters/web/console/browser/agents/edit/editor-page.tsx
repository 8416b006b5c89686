/** Creates and changes agents and playbooks. The console loads this code when a form is opened. */
import type { JSX } from "preact";
import type { Agent, AgentAction, AgentActions, Playbook } from "../../../../../../src/index.ts";
import { api, linkTo, readPages, useResource } from "../../../../shared/browser/index.ts";
import { LoadingPage } from "../../parts/layout.tsx";
import { waitForDocument } from "../../reference/document.ts";
import { t } from "../../texts.ts";
import { AgentForm } from "./agent/agent-form.tsx";
import { PlaybookForm } from "./playbook/playbook-form.tsx";

interface EditorProps {
  readonly kind: "agents" | "playbooks";
  /** What is edited. Absent for something new. */
  readonly id: string | undefined;
}

/** The props of the forms. */
interface EditorData {
  readonly agent: Agent | undefined;
  readonly playbook: Playbook | undefined;
  readonly playbooks: readonly Playbook[];
  readonly actions: readonly AgentAction[];
}

async function load({ kind, id }: EditorProps, signal: AbortSignal): Promise<EditorData> {
  const own = <Resource,>(of: EditorProps["kind"]): Promise<Resource | undefined> =>
    id !== undefined && kind === of
      ? api.get<Resource>(`v1/${of}/${encodeURIComponent(id)}`, { signal })
      : Promise.resolve(undefined);
  const [agent, playbook, { items: playbooks }, { data: actions }] = await Promise.all([
    own<Agent>("agents"),
    own<Playbook>("playbooks"),
    readPages<Playbook>("v1/playbooks", {}, signal),
    api.get<AgentActions>("v1/actions", { signal }),
    waitForDocument(),
  ]);
  return { agent, playbook, playbooks, actions };
}

/** The form of an agent or a playbook. */
export function EditorPage({ kind, id }: EditorProps): JSX.Element {
  const resource = useResource((signal) => load({ kind, id }, signal), [kind, id]);
  const { data } = resource;
  if (data === undefined) {
    return (
      <LoadingPage
        title={t(kind === "agents" ? "agent" : "playbook")}
        back={{ href: linkTo(["agents"]), label: t("agents") }}
        of={resource}
      />
    );
  }
  return kind === "agents" ? <AgentForm {...data} /> : <PlaybookForm {...data} />;
}
