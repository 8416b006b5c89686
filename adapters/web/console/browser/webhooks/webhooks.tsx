import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Backlog, Webhook, WebhookWithSecret } from "../../../../../src/index.ts";
import {
  api,
  Button,
  EmptyState,
  go,
  linkTo,
  may,
  place,
  useResource,
} from "../../../shared/browser/index.ts";
import { useCoalesced, useLive, useReturn } from "../live.ts";
import { usePagedList } from "../paged.ts";
import { SecretDialog } from "../parts/dialogs.tsx";
import { Card, Paged, PageView } from "../parts/layout.tsx";
import { Table } from "../parts/table.tsx";
import { Age, TwoLines, When } from "../parts/values.tsx";
import { loadDocument } from "../reference/document.ts";
import { t } from "../texts.ts";
import { DeliveryPage } from "./delivery.tsx";
import { WebhookStatus } from "./states.tsx";
import { WebhookForm } from "./webhook-form.tsx";
import { WebhookPage } from "./webhook.tsx";

/** The list is read again at most this often, in milliseconds: each event may change a webhook. */
const refreshDelayMs = 2000;

/** The endpoints, one of them, or one of its deliveries. */
export function WebhooksPage(): JSX.Element {
  const [, id, delivery] = place.value.path;
  useEffect(loadDocument, []);
  if (id === undefined) return <WebhookList />;
  if (delivery === undefined) return <WebhookPage key={id} id={id} />;
  return <DeliveryPage key={delivery} id={delivery} webhookId={id} />;
}

function WebhookList(): JSX.Element {
  const list = usePagedList<Webhook>(
    (cursor, signal) => api.get("v1/webhooks", { query: { limit: 50, cursor }, signal }),
    [],
  );
  const backlog = useResource<Backlog>((signal) => api.get("v1/backlog", { signal }), []);
  const [isAdding, setAdding] = useState(false);
  const [created, setCreated] = useState<WebhookWithSecret>();
  const refresh = useCoalesced(async () => {
    await Promise.all([list.refresh(), backlog.reload()]);
  }, refreshDelayMs);
  useLive({ onEvent: refresh, onGap: refresh });
  useReturn(refresh);
  const add = may("webhooks:write") && (
    <Button kind="primary" icon="plus" onClick={() => setAdding(true)}>
      {t("webhookAdd")}
    </Button>
  );
  return (
    <PageView title={t("webhooks")} about={t("webhooksAbout")} actions={add}>
      <Card isFlush>
        <Paged
          list={list}
          empty={
            <EmptyState icon="webhook" title={t("webhooksNone")}>
              {t("webhooksNoneHint")}
            </EmptyState>
          }
        >
          {(rows) => <WebhookTable rows={rows} lags={backlog.data?.webhooks ?? []} />}
        </Paged>
      </Card>
      {isAdding && (
        <WebhookForm
          onClose={() => setAdding(false)}
          onSave={async (values, key) => {
            const webhook = await api.post<WebhookWithSecret>("v1/webhooks", values, { key });
            setAdding(false);
            const { secret: _secret, ...row } = webhook;
            list.add(row);
            setCreated(webhook);
          }}
        />
      )}
      {created && (
        <SecretDialog
          title={t("webhookCreated")}
          secret={created.secret}
          hint={t("webhookSecretHint")}
          onClose={() => go(linkTo(["webhooks", created.id]))}
        />
      )}
    </PageView>
  );
}

interface WebhookTableProps {
  readonly rows: readonly Webhook[];
  readonly lags: Backlog["webhooks"];
}

function WebhookTable({ rows, lags }: WebhookTableProps): JSX.Element {
  const oldest = new Map(lags.map((lag) => [lag.webhook_id, lag.oldest_created_at]));
  return (
    <Table
      label={t("webhooks")}
      rows={rows}
      keyOf={({ id }) => id}
      linkOf={({ id }) => linkTo(["webhooks", id])}
      columns={[
        {
          label: t("address"),
          cell: ({ url, description }) => <TwoLines first={url} second={description} />,
        },
        { label: t("columnStatus"), cell: (row) => <WebhookStatus of={row} /> },
        {
          label: t("columnOldestDelivery"),
          isNumeric: true,
          cell: ({ id }) => <Age of={oldest.get(id) ?? null} />,
        },
        { label: t("columnEvents"), cell: ({ events }) => <EventPatterns of={events} /> },
        {
          label: t("columnCreated"),
          isNumeric: true,
          cell: ({ created_at }) => <When at={created_at} />,
        },
      ]}
    />
  );
}

const maxPatterns = 2;

/** The first patterns, and how many more there are. */
function EventPatterns({ of }: { readonly of: readonly string[] }): JSX.Element {
  const rest = of.length - maxPatterns;
  return (
    <span class="nowrap" data-tooltip={of.join(", ")}>
      {of.slice(0, maxPatterns).map((pattern) => (
        <code key={pattern} class="chip">
          {pattern}
        </code>
      ))}
      {rest > 0 && <span class="muted"> {t("more", { count: rest })}</span>}
    </span>
  );
}
