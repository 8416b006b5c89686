/** Creates and changes agents and playbooks. The console loads this code when a form is opened. */
import type { JSX } from "preact";
import type {
  Agent,
  AgentAction,
  AgentActions,
  Page,
  Playbook,
} from "../../../../../../src/index.ts";
import { api, linkTo, useResource } from "../../../../shared/browser/index.ts";
import { LoadingPage } from "../../parts/layout.tsx";
import { waitForDocument } from "../../reference/document.ts";
import { t } from "../../texts.ts";
import { AgentForm } from "./agent/agent-form.tsx";
import { PlaybookForm } from "./playbook/playbook-form.tsx";

interface EditorProps {
  readonly kind: "agents" | "playbooks";
  /** What is changed. Absent for something new. */
  readonly id: string | undefined;
}

/** The props of the forms. */
interface EditorData {
  readonly agent: Agent | undefined;
  readonly playbook: Playbook | undefined;
  readonly playbooks: readonly Playbook[];
  readonly actions: readonly AgentAction[];
}

/** Enough for the 500 playbooks that an account may have. */
const maxPages = 5;

async function load({ kind, id }: EditorProps, signal: AbortSignal): Promise<EditorData> {
  const own = <Resource,>(of: EditorProps["kind"]): Promise<Resource | undefined> =>
    id !== undefined && kind === of
      ? api.get<Resource>(`v1/${of}/${encodeURIComponent(id)}`, { signal })
      : Promise.resolve(undefined);
  const [agent, playbook, playbooks, { data: actions }] = await Promise.all([
    own<Agent>("agents"),
    own<Playbook>("playbooks"),
    allPlaybooks(signal),
    api.get<AgentActions>("v1/actions", { signal }),
    waitForDocument(),
  ]);
  return { agent, playbook, playbooks, actions };
}

async function allPlaybooks(signal: AbortSignal): Promise<readonly Playbook[]> {
  const found: Playbook[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < maxPages; pages += 1) {
    const query = { limit: 100, cursor };
    const page = await api.get<Page<Playbook>>("v1/playbooks", { query, signal });
    found.push(...page.data);
    cursor = page.next_cursor ?? undefined;
    if (cursor === undefined) break;
  }
  return found;
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
