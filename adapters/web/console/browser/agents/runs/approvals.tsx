/** Actions that wait for a person's decision. */
import type { JSX } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Agent, AwaitedCall, EventType, Run } from "../../../../../../src/index.ts";
import {
  Button,
  ErrorNote,
  linkTo,
  number,
  readPages,
  Resource,
  type ReadPages,
} from "../../../../shared/browser/index.ts";
import { contactOf, isErased, readContacts } from "../../contacts.ts";
import { useCoalesced, useLive } from "../../live.ts";
import { Card } from "../../parts/layout.tsx";
import { Table } from "../../parts/table.tsx";
import { ContactCell, When } from "../../parts/values.tsx";
import { t } from "../../texts.ts";

const refreshDelayMs = 400;

/** The events after which other actions wait, or their input was removed. */
const types: ReadonlySet<EventType> = new Set([
  "agent.run.awaiting_approval",
  "agent.run.approval_decided",
  "contact.erased",
  "message.redacted",
]);

interface Waiting extends ReadPages<Run> {
  /** The names of their agents, by the ids. A deleted agent has its id as its name. */
  readonly agents: ReadonlyMap<string, string>;
}

/** A table of the actions that wait for a decision, longest wait first. Nothing if none waits. */
export function Approvals(): JSX.Element | null {
  const pages = useRef(1);
  const waiting: Resource<Waiting> = useMemo(
    () =>
      new Resource<Waiting>(async (signal) => {
        const before = waiting.state.peek().data;
        const query = { status: "awaiting_approval" };
        const found = await readPages<Run>("v1/runs", query, signal, pages.current);
        // Each event reads the runs again. Contacts that were not found are not asked for again.
        const known = new Set(before?.items.map(({ id }) => id));
        const added = found.items.filter(({ id }) => !known.has(id));
        const isKnown = added.every(({ conversation_id: of }) => of === null || contactOf(of));
        if (!isKnown) await readContacts(signal);
        return { ...found, agents: await namesOf(found.items, before?.agents, signal) };
      }),
    [],
  );
  const refresh = useCoalesced(() => waiting.reload(), refreshDelayMs);
  useEffect(() => waiting.loadWhileShown(), [waiting]);
  useLive({
    onEvent: ({ type }) => {
      if (types.has(type)) refresh();
    },
    onGap: refresh,
  });
  const { data, error, isLoading } = waiting.state.value;
  const runs = (data?.items ?? []).filter(({ conversation_id }) => !isErased(conversation_id));
  const rows = runs.flatMap((run) => callsOf(run).map((call) => ({ run, call })));
  const failure =
    error === undefined ? null : <ErrorNote error={error} onRetry={() => void waiting.reload()} />;
  if (data === undefined || rows.length === 0) {
    return failure && <Card title={t("approvals")}>{failure}</Card>;
  }
  const { agents, hasMore } = data;
  const count = number(rows.length);
  return (
    <Card title={t("approvals")} count={hasMore ? t("many", { count }) : count} isFlush>
      <ApprovalTable rows={rows} agents={agents} />
      {failure && <div class="more">{failure}</div>}
      {hasMore && !failure && (
        <div class="more">
          <Button
            isBusy={isLoading}
            onClick={() => {
              pages.current += 1;
              void waiting.reload();
            }}
          >
            {t("loadMore")}
          </Button>
        </div>
      )}
    </Card>
  );
}

/** The calls of a run that wait for a decision, oldest first. */
const callsOf = ({ approval, later_approvals }: Run): readonly AwaitedCall[] =>
  approval === null ? [] : [approval, ...later_approvals];

/** Reads the names of the runs' agents, unless all of them are known. */
async function namesOf(
  runs: readonly Run[],
  known: ReadonlyMap<string, string> = new Map(),
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const ids = new Set(runs.map(({ agent_id }) => agent_id));
  if ([...ids].every((id) => known.has(id))) return known;
  try {
    // One list names them all. A request for each agent could use up the person's rate limit.
    const { items } = await readPages<Agent>("v1/agents", {}, signal, maxAgentPages);
    const found = new Map<string, string>(items.map(({ id, name }) => [id, name]));
    return new Map([...known, ...[...ids].map((id) => [id, found.get(id) ?? id] as const)]);
  } catch {
    // The names are read with the next change.
    return known;
  }
}

/** The most pages of agents that are read for their names. */
const maxAgentPages = 5;

interface Row {
  readonly run: Run;
  readonly call: AwaitedCall;
}

interface ApprovalTableProps {
  readonly rows: readonly Row[];
  readonly agents: Waiting["agents"];
}

function ApprovalTable({ rows, agents }: ApprovalTableProps): JSX.Element {
  return (
    <Table
      label={t("approvals")}
      rows={rows}
      keyOf={({ call }) => call.call_id}
      linkOf={({ run: { agent_id, id } }) => linkTo(["agents", agent_id, id])}
      columns={[
        {
          label: t("stepAction"),
          cell: ({ call }) => <code class="strong nowrap">{call.action}</code>,
        },
        {
          label: t("stepInput"),
          cell: ({ call }) => (
            <code class="approval-input truncate muted">
              <bdi>{JSON.stringify(call.input)}</bdi>
            </code>
          ),
        },
        {
          label: t("columnContact"),
          cell: ({ run }) => <ContactCell conversationId={run.conversation_id} />,
        },
        {
          label: t("agent"),
          cell: ({ run }) => (
            <bdi class="approval-agent truncate">{agents.get(run.agent_id) ?? run.agent_id}</bdi>
          ),
        },
        {
          label: t("columnCreated"),
          isNumeric: true,
          cell: ({ run }) => <When at={run.created_at} />,
        },
      ]}
    />
  );
}
