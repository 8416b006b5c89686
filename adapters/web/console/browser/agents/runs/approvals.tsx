/** Actions that wait for a person's decision. */
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { Agent, Page, Run } from "../../../../../../src/index.ts";
import { api, linkTo, Resource, Table } from "../../../../shared/browser/index.ts";
import { contactOf, isErased, readContacts } from "../../contacts.ts";
import { useCoalesced, useLive } from "../../live.ts";
import { Card } from "../../parts/layout.tsx";
import { ContactCell, When } from "../../parts/values.tsx";
import { t } from "../../texts.ts";

/** The API lists runs by agent, so only the runs of the first agents are read. */
const maxAgentsRead = 20;
const refreshDelayMs = 400;

/** A table of the runs that wait for a decision. Nothing if there are none. */
export function Approvals({ agents }: { readonly agents: readonly Agent[] }): JSX.Element | null {
  const ids = agents.slice(0, maxAgentsRead).map(({ id }) => id);
  const waiting: Resource<readonly Run[]> = useMemo(
    () =>
      new Resource<readonly Run[]>(async (signal) => {
        const query = { status: "awaiting_approval", limit: 20 };
        const pages = await Promise.all(
          ids.map((id) => api.get<Page<Run>>(`v1/agents/${id}/runs`, query, { signal })),
        );
        const runs = pages.flatMap(({ data }) => data);
        // Each event reads the runs again. Contacts that were not found are not asked for again.
        const before = new Set(waiting.state.peek().data?.map(({ id }) => id));
        const added = runs.filter(({ id }) => !before.has(id));
        const isKnown = added.every(({ conversation_id: of }) => of === null || contactOf(of));
        if (!isKnown) await readContacts(signal);
        return runs;
      }),
    [ids.join(" ")],
  );
  const refresh = useCoalesced(() => waiting.reload(), refreshDelayMs);
  useEffect(() => {
    refresh();
    return () => waiting.stop();
  }, [waiting]);
  useLive({ onEvent: refresh, onGap: refresh });
  const rows = (waiting.data ?? []).filter(({ conversation_id }) => !isErased(conversation_id));
  if (rows.length === 0) return null;
  const nameOf = (id: string): string => agents.find((each) => each.id === id)?.name ?? id;
  return (
    <Card title={t("approvals")} isFlush>
      <Table
        label={t("approvals")}
        rows={rows}
        keyOf={({ id }) => id}
        linkOf={({ agent_id, id }) => linkTo(["agents", agent_id, id])}
        columns={[
          {
            id: "action",
            label: t("stepAction"),
            cell: (run) => (
              <code class="strong nowrap">{run.approval?.action ?? t("runAwaiting")}</code>
            ),
          },
          {
            id: "input",
            label: t("stepInput"),
            cell: (run) => (
              <code class="approval-input truncate muted">
                <bdi>{JSON.stringify(run.approval?.input ?? null)}</bdi>
              </code>
            ),
          },
          {
            id: "contact",
            label: t("columnContact"),
            cell: ({ conversation_id }) => <ContactCell conversationId={conversation_id} />,
          },
          {
            id: "agent",
            label: t("agent"),
            cell: ({ agent_id }) => <bdi class="nowrap">{nameOf(agent_id)}</bdi>,
          },
          {
            id: "created",
            label: t("columnCreated"),
            isNumeric: true,
            cell: ({ created_at }) => <When at={created_at} />,
          },
        ]}
      />
    </Card>
  );
}
