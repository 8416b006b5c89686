/** Actions that wait for a person's decision. */
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Agent, Page, Run } from "../../../../../../src/index.ts";
import {
  api,
  Button,
  Icon,
  linkTo,
  may,
  Resource,
  Table,
  toast,
  toastError,
} from "../../../../shared/browser/index.ts";
import { contactOf, isErased, readContacts } from "../../contacts.ts";
import { useCoalesced, useLive } from "../../live.ts";
import { Json } from "../../parts/json.tsx";
import { Card } from "../../parts/layout.tsx";
import { ContactCell, When } from "../../parts/values.tsx";
import { t } from "../../texts.ts";

interface ApprovalProps {
  readonly run: Run;
  readonly path: string;
  readonly onDecided: (run: Run) => void;
}

/** Asks for the decision about the action that a run waits for. */
export function Approval({ run, path, onDecided }: ApprovalProps): JSX.Element {
  const [busy, setBusy] = useState<"approve" | "deny">();
  const decide = async (decision: "approve" | "deny"): Promise<void> => {
    setBusy(decision);
    try {
      onDecided(await api.post<Run>(`${path}/approve`, { decision }));
      toast({ message: t(decision === "approve" ? "approved" : "denied") });
    } catch (error) {
      toastError(error);
    } finally {
      setBusy(undefined);
    }
  };
  const { approval } = run;
  return (
    <section class="approval" aria-label={t("approvalTitle")}>
      <div class="approval-head">
        <Icon name="person" />
        <div class="grow">
          <h2>
            {t("approvalTitle")} {approval && <code>{approval.action}</code>}
          </h2>
          <p>{t("approvalWaits")}</p>
        </div>
        {may("agents:trigger") && (
          <div class="approval-buttons">
            <Button
              isBusy={busy === "deny"}
              disabled={busy === "approve"}
              onClick={() => void decide("deny")}
            >
              {t("deny")}
            </Button>
            <Button
              kind="primary"
              isBusy={busy === "approve"}
              disabled={busy === "deny"}
              onClick={() => void decide("approve")}
            >
              {t("approve")}
            </Button>
          </div>
        )}
      </div>
      {approval && <Json value={approval.input} label={t("stepInput")} />}
    </section>
  );
}

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
