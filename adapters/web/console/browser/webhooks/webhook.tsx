import type { JSX } from "preact";
import type { DeliveryWithAttempts, Webhook } from "../../../../../src/index.ts";
import {
  api,
  Button,
  dateTime,
  dayAndTime,
  EmptyState,
  exactDuration,
  Facts,
  linkTo,
  number,
  place,
  timeNow,
  useResource,
} from "../../../shared/browser/index.ts";
import { useCoalesced, useLive, useReturn } from "../live.ts";
import { usePagedList } from "../paged.ts";
import { Card, LoadingPage, Paged, PageView, StatusFilter } from "../parts/layout.tsx";
import { Table } from "../parts/table.tsx";
import { Copied, Figure, When } from "../parts/values.tsx";
import { t } from "../texts.ts";
import { useDeliveries } from "./follow.ts";
import { deliveryName, DeliveryStatus, problemOf, Response, WebhookStatus } from "./states.tsx";
import { WebhookActions } from "./webhook-actions.tsx";

const statuses = ["pending", "succeeded", "failed", "parked", "canceled"] as const;
/** Deliveries follow their events by some 100 ms. */
const refreshDelayMs = 700;
const pageSize = 50;

/** One endpoint: its health, its deliveries and its settings. */
export function WebhookPage({ id }: { readonly id: string }): JSX.Element {
  const status = place.value.query["status"];
  const path = `v1/webhooks/${encodeURIComponent(id)}`;
  const webhook = useResource<Webhook>((signal) => api.get(path, { signal }), [path]);
  const list = usePagedList<DeliveryWithAttempts>(
    (cursor, signal) =>
      api.get(`${path}/deliveries`, { query: { status, limit: pageSize, cursor }, signal }),
    [path, status],
  );
  const reload = (): void => {
    void webhook.reload();
    void list.reload();
  };
  /** A response can also disable the webhook. */
  const refresh = async (): Promise<void> => {
    await Promise.all([webhook.reload(), list.refresh()]);
  };
  const soon = useCoalesced(refresh, refreshDelayMs);
  const { rows } = list.state.value;
  const expectMore = useDeliveries(rows?.slice(0, pageSize) ?? [], refresh);
  useLive({ onEvent: soon, onGap: soon });
  useReturn(soon);
  const { data } = webhook;
  const back = { href: linkTo(["webhooks"]), label: t("webhooks") };
  if (data === undefined) return <LoadingPage title={t("webhook")} back={back} of={webhook} />;
  return (
    <PageView
      title={data.description ?? data.url}
      back={back}
      badge={<WebhookStatus of={data} />}
      actions={
        <WebhookActions webhook={data} onChange={(next) => webhook.set(next)} onDone={expectMore} />
      }
    >
      {status === undefined && rows !== undefined && rows.length > 0 && <Health rows={rows} />}
      <Card title={t("settings")}>
        <Settings webhook={data} />
      </Card>
      <Card
        title={t("deliveries")}
        isFlush
        actions={
          <>
            <StatusFilter statuses={statuses} nameOf={deliveryName} all={t("deliveriesAll")} />
            <Button icon="refresh" onClick={reload}>
              {t("reload")}
            </Button>
          </>
        }
      >
        <Paged
          list={list}
          empty={
            <EmptyState icon="webhook" title={t("deliveriesNone")}>
              {t("deliveriesNoneHint")}
            </EmptyState>
          }
        >
          {(shown) => <Deliveries rows={shown} webhookId={id} />}
        </Paged>
      </Card>
    </PageView>
  );
}

/** How the latest deliveries went. */
function Health({ rows }: { readonly rows: readonly DeliveryWithAttempts[] }): JSX.Element {
  const attempts = rows.flatMap((row) => row.attempts);
  const succeeded = attempts.filter(({ error }) => error === null);
  const times = succeeded.map(({ duration_ms }) => duration_ms).toSorted((a, b) => a - b);
  const median = times[Math.floor(times.length / 2)];
  const pending = rows.filter(({ status }) => status === "pending").length;
  const last = succeeded
    .map(({ started_at }) => started_at)
    .toSorted()
    .at(-1);
  const rate = attempts.length === 0 ? undefined : succeeded.length / attempts.length;
  return (
    <dl class="figures">
      <Figure
        name={t("healthRate")}
        value={rate === undefined ? "–" : number(rate, { style: "percent" })}
        note={t("healthOf", { count: rows.length })}
        tone={rate === undefined || rate >= 0.99 ? "neutral" : rate >= 0.9 ? "warn" : "bad"}
      />
      <Figure name={t("healthPending")} value={number(pending)} />
      <Figure name={t("healthMedian")} value={median === undefined ? "–" : exactDuration(median)} />
      <Figure
        name={t("healthLast")}
        value={last === undefined ? "–" : dayAndTime(last)}
        isText={last !== undefined}
      />
    </dl>
  );
}

function Settings({ webhook }: { readonly webhook: Webhook }): JSX.Element {
  const { id, url, events, ordering, headers, previous_expires_at, created_at } = webhook;
  const names = Object.keys(headers);
  return (
    <Facts
      of={[
        [t("webhookProblem"), problemOf(webhook)],
        [t("address"), <bdi key="url">{url}</bdi>],
        [
          t("columnEvents"),
          <span key="events" class="chips">
            {events.map((pattern) => (
              <code key={pattern} class="chip">
                {pattern}
              </code>
            ))}
          </span>,
        ],
        [t("webhookOrdering"), t(ordering === "fifo" ? "orderingFifo" : "orderingNone")],
        [t("webhookHeaders"), names.length > 0 && names.join(", ")],
        [
          t("webhookOldSecret"),
          previous_expires_at !== null &&
            Date.parse(previous_expires_at) > timeNow() &&
            t("until", { time: dateTime(previous_expires_at) }),
        ],
        [t("fieldId"), <Copied key="id" value={id} />],
        [t("columnCreated"), dateTime(created_at)],
      ]}
    />
  );
}

interface DeliveriesProps {
  readonly rows: readonly DeliveryWithAttempts[];
  readonly webhookId: string;
}

function Deliveries({ rows, webhookId }: DeliveriesProps): JSX.Element {
  return (
    <Table
      label={t("deliveries")}
      rows={rows}
      keyOf={({ id }) => id}
      linkOf={({ id }) => linkTo(["webhooks", webhookId, id])}
      columns={[
        {
          label: t("columnEvent"),
          cell: ({ event_type }) => <code class="nowrap">{event_type}</code>,
        },
        { label: t("columnStatus"), cell: (row) => <DeliveryStatus of={row.status} /> },
        { label: t("columnResponse"), cell: ({ attempts }) => <Response of={attempts.at(-1)} /> },
        {
          label: t("columnAttempts"),
          isNumeric: true,
          cell: ({ attempt_count }) => number(attempt_count),
        },
        { label: t("columnNext"), cell: ({ next_attempt_at }) => <When at={next_attempt_at} /> },
        {
          label: t("columnCreated"),
          isNumeric: true,
          cell: ({ created_at }) => <When at={created_at} />,
        },
      ]}
    />
  );
}
