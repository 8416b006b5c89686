import type { JSX } from "preact";
import type { Backlog, ErrorCounts, Page, Webhook, WorkKind } from "../../../../../src/index.ts";
import {
  api,
  Icon,
  linkTo,
  LoadState,
  may,
  number,
  shownAddress,
  useResource,
} from "../../../shared/browser/index.ts";
import { Card } from "../parts/layout.tsx";
import { Table } from "../parts/table.tsx";
import { Age, TwoLines, When } from "../parts/values.tsx";
import { t } from "../texts.ts";

interface VersionProps {
  /** Increases when the numbers are to be read again. */
  readonly version: number;
}

/** The work that waits, with the longest waiting one, and the webhooks that are behind. */
export function Waiting({ version }: VersionProps): JSX.Element {
  const backlog = useResource<Backlog>((signal) => api.get("v1/backlog", { signal }), [], version);
  const { data } = backlog;
  return (
    <>
      <Card title={t("waiting")} isFlush>
        {data === undefined && <LoadState of={backlog} rows={2} />}
        {data?.work.length === 0 && <Nothing text={t("waitingNothing")} />}
        {data !== undefined && data.work.length > 0 && <WorkTable work={data.work} />}
      </Card>
      <Card title={t("webhookLag")} isFlush>
        {data === undefined && <LoadState of={backlog} rows={2} />}
        {data?.webhooks.length === 0 && <Nothing text={t("webhookLagNothing")} />}
        {data !== undefined && data.webhooks.length > 0 && <LagTable webhooks={data.webhooks} />}
      </Card>
    </>
  );
}

const Nothing = ({ text }: { readonly text: string }): JSX.Element => (
  <p class="nothing muted">
    <Icon name="check" />
    {text}
  </p>
);

/** A kind that a later version adds is shown as it is. */
const kindName = (kind: WorkKind): string => {
  const names: { readonly [known in WorkKind]: string } = {
    send: t("workSend"),
    follow_up: t("workFollowUp"),
    score: t("workScore"),
    turn: t("workTurn"),
  };
  return (names as Partial<typeof names>)[kind] ?? kind;
};

function WorkTable({ work }: { readonly work: Backlog["work"] }): JSX.Element {
  return (
    <Table
      label={t("waiting")}
      rows={work}
      keyOf={({ kind, transport }) => `${kind} ${transport}`}
      columns={[
        {
          label: t("columnWork"),
          cell: ({ kind, transport }) => (
            <span class="two-lines">
              <span class="strong">{kindName(kind)}</span>
              {transport !== null && <code class="muted">{transport}</code>}
            </span>
          ),
        },
        { label: t("columnDue"), isNumeric: true, cell: ({ due }) => number(due) },
        { label: t("columnLater"), isNumeric: true, cell: ({ later }) => number(later) },
        { label: t("columnRunning"), isNumeric: true, cell: ({ running }) => number(running) },
        {
          label: t("columnOldest"),
          isNumeric: true,
          cell: ({ oldest_due_at }) => <Age of={oldest_due_at} />,
        },
      ]}
    />
  );
}

function LagTable({ webhooks }: { readonly webhooks: Backlog["webhooks"] }): JSX.Element {
  const known = useResource<Page<Webhook> | undefined>(
    async (signal) =>
      may("webhooks:read") ? api.get("v1/webhooks", { query: { limit: 100 }, signal }) : undefined,
    [],
  );
  const byId = new Map(known.data?.data.map((each) => [each.id, each]));
  return (
    <Table
      label={t("webhookLag")}
      rows={webhooks}
      keyOf={({ webhook_id }) => webhook_id}
      linkOf={({ webhook_id }) => linkTo(["webhooks", webhook_id], { status: "pending" })}
      columns={[
        {
          label: t("webhook"),
          cell: ({ webhook_id }) => {
            const webhook = byId.get(webhook_id);
            return webhook ? (
              <TwoLines first={webhook.url} second={webhook.description} />
            ) : (
              <code>{webhook_id}</code>
            );
          },
        },
        {
          label: t("columnOldest"),
          isNumeric: true,
          cell: ({ oldest_created_at }) => <Age of={oldest_created_at} />,
        },
        {
          label: t("columnNext"),
          isNumeric: true,
          cell: ({ next_attempt_at }) => <When at={next_attempt_at} />,
        },
      ]}
    />
  );
}

/** The most frequent errors of each sender. */
export function Errors({ version }: VersionProps): JSX.Element {
  const errors = useResource<ErrorCounts>(
    (signal) => api.get("v1/usage/errors", { signal }),
    [],
    version,
  );
  const { data } = errors;
  const most = data?.data[0]?.messages ?? 1;
  return (
    <Card title={t("errors")} isFlush>
      {data === undefined && <LoadState of={errors} rows={2} />}
      {data?.data.length === 0 && <Nothing text={t("errorsNone")} />}
      {data !== undefined && data.data.length > 0 && (
        <Table
          label={t("errors")}
          rows={data.data}
          keyOf={({ sender, code }) => `${sender} ${code}`}
          columns={[
            { label: t("columnCode"), cell: ({ code }) => <code class="nowrap">{code}</code> },
            {
              label: t("columnSender"),
              cell: ({ sender }) => <bdi class="nowrap">{shownAddress(sender)}</bdi>,
            },
            {
              label: t("messages"),
              isNumeric: true,
              cell: ({ messages }) => (
                <span class="share">
                  <span class="share-bar" style={{ inlineSize: `${(messages / most) * 100}%` }} />
                  {number(messages)}
                </span>
              ),
            },
          ]}
        />
      )}
    </Card>
  );
}
