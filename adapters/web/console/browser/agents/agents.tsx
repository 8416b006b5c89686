import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import type { Agent, Playbook } from "../../../../../src/index.ts";
import {
  api,
  Button,
  channelName,
  EmptyState,
  go,
  linkTo,
  may,
  number,
  place,
  Resource,
} from "../../../shared/browser/index.ts";
import { useReturn } from "../live.ts";
import { usePagedList } from "../paged.ts";
import { Card, LoadingPage, Needs, Paged, PageView } from "../parts/layout.tsx";
import { Table } from "../parts/table.tsx";
import { TwoLines, When } from "../parts/values.tsx";
import { t } from "../texts.ts";
import { AgentPage } from "./agent.tsx";
import { EnabledBadge } from "./edit-buttons.tsx";
import { PlaybookPage } from "./playbook.tsx";
import { Approvals } from "./runs/approvals.tsx";
import { RunPage } from "./runs/run.tsx";

/** Shows what the address names: all agents and playbooks, one of them, its form, or a run. */
export function AgentsPage(): JSX.Element {
  const [, first, second, third] = place.value.path;
  if (first === undefined) return <AgentList />;
  if (first === "playbooks") {
    if (second === undefined) return <AgentList />;
    const isForm = second === "new" || third === "edit";
    return isForm ? (
      <LazyEditor key={second} kind="playbooks" id={second === "new" ? undefined : second} />
    ) : (
      <PlaybookPage key={second} id={second} />
    );
  }
  if (first === "new") return <LazyEditor key={first} kind="agents" id={undefined} />;
  if (second === "edit") return <LazyEditor key={first} kind="agents" id={first} />;
  if (second === undefined) return <AgentPage key={first} id={first} />;
  return <RunPage key={second} id={second} agentId={first} />;
}

/** The code of the forms. */
const editorCode = new Resource(() => import("./edit/editor-page.tsx"));

interface LazyEditorProps {
  readonly kind: "agents" | "playbooks";
  readonly id: string | undefined;
}

/** A form for an agent or a playbook. Its code is loaded when the first form is opened. */
function LazyEditor({ kind, id }: LazyEditorProps): JSX.Element {
  useEffect(() => {
    if (editorCode.state.peek().data === undefined) void editorCode.reload();
  }, []);
  const { data } = editorCode;
  const title = t(kind === "agents" ? "agent" : "playbook");
  const back = { href: linkTo(["agents"]), label: t("agents") };
  if (data === undefined) return <LoadingPage title={title} back={back} of={editorCode} />;
  return (
    <Needs scopes={["agents:write"]} title={title}>
      <data.EditorPage kind={kind} id={id} />
    </Needs>
  );
}

function AgentList(): JSX.Element {
  const agents = usePagedList<Agent>(
    (cursor, signal) => api.get("v1/agents", { query: { limit: 50, cursor }, signal }),
    [],
  );
  const playbooks = usePagedList<Playbook>(
    (cursor, signal) => api.get("v1/playbooks", { query: { limit: 50, cursor }, signal }),
    [],
  );
  useReturn(() => {
    void agents.refresh();
    void playbooks.refresh();
  });
  return (
    <PageView title={t("agents")} about={t("agentsAbout")}>
      <Approvals />
      <Card
        title={t("agents")}
        isFlush
        actions={<NewButton path={["agents", "new"]}>{t("agentAdd")}</NewButton>}
      >
        <Paged
          list={agents}
          empty={
            <EmptyState icon="agent" title={t("agentsNone")}>
              {t("agentsNoneHint")}
            </EmptyState>
          }
        >
          {(rows) => <AgentTable rows={rows} />}
        </Paged>
      </Card>
      <Card
        title={t("playbooks")}
        isFlush
        actions={<NewButton path={["agents", "playbooks", "new"]}>{t("playbookAdd")}</NewButton>}
      >
        <Paged
          list={playbooks}
          empty={
            <EmptyState icon="note" title={t("playbooksNone")}>
              {t("playbooksNoneHint")}
            </EmptyState>
          }
        >
          {(rows) => <PlaybookTable rows={rows} />}
        </Paged>
      </Card>
    </PageView>
  );
}

interface NewButtonProps {
  readonly path: readonly string[];
  readonly children: string;
}

const NewButton = ({ path, children }: NewButtonProps): JSX.Element | null =>
  may("agents:write") ? (
    <Button icon="plus" onClick={() => go(linkTo(path))}>
      {children}
    </Button>
  ) : null;

function AgentTable({ rows }: { readonly rows: readonly Agent[] }): JSX.Element {
  return (
    <Table
      label={t("agents")}
      rows={rows}
      keyOf={({ id }) => id}
      linkOf={({ id }) => linkTo(["agents", id])}
      columns={[
        {
          label: t("columnName"),
          cell: ({ name, persona }) => <TwoLines first={name} second={persona.role} />,
        },
        { label: t("columnStatus"), cell: ({ enabled }) => <EnabledBadge enabled={enabled} /> },
        {
          label: t("channels"),
          cell: ({ channels }) => (
            <span class="nowrap">{channels.map(channelName).join(", ")}</span>
          ),
        },
        {
          label: t("playbooks"),
          isNumeric: true,
          cell: ({ playbook_ids }) => number(playbook_ids.length),
        },
        { label: t("columnVersion"), isNumeric: true, cell: ({ version }) => number(version) },
        {
          label: t("columnUpdated"),
          isNumeric: true,
          cell: ({ updated_at }) => <When at={updated_at} />,
        },
      ]}
    />
  );
}

/** The keywords and the intents. A word may be both. */
const wordsOf = ({ keywords = [], intents = [] }: Playbook["trigger"]): string[] => [
  ...new Set([...keywords, ...intents]),
];

function PlaybookTable({ rows }: { readonly rows: readonly Playbook[] }): JSX.Element {
  return (
    <Table
      label={t("playbooks")}
      rows={rows}
      keyOf={({ id }) => id}
      linkOf={({ id }) => linkTo(["agents", "playbooks", id])}
      columns={[
        {
          label: t("columnName"),
          cell: ({ name, description }) => <TwoLines first={name} second={description} />,
        },
        { label: t("columnStatus"), cell: ({ enabled }) => <EnabledBadge enabled={enabled} /> },
        {
          label: t("columnTrigger"),
          cell: ({ trigger }) => (
            <span class="truncate muted">
              <bdi>{wordsOf(trigger).join(", ")}</bdi>
            </span>
          ),
        },
        { label: t("columnSteps"), isNumeric: true, cell: ({ steps }) => number(steps.length) },
        {
          label: t("columnUpdated"),
          isNumeric: true,
          cell: ({ updated_at }) => <When at={updated_at} />,
        },
      ]}
    />
  );
}
