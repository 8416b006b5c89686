import type { JSX } from "preact";
import type { Delivery, DeliveryAttempt, DeliveryWithBody } from "../../../../../src/index.ts";
import {
  api,
  Badge,
  Button,
  dateTime,
  Facts,
  linkTo,
  may,
  toast,
  useAction,
  useResource,
} from "../../../shared/browser/index.ts";
import { Code, Json } from "../parts/json.tsx";
import { Card, LoadingPage, PageView } from "../parts/layout.tsx";
import { Copied } from "../parts/values.tsx";
import { t } from "../texts.ts";
import { useDeliveries } from "./follow.ts";
import { DeliveryStatus, Response } from "./states.tsx";

interface DeliveryPageProps {
  readonly id: string;
  readonly webhookId: string;
}

/** One delivery: the request body, and the response to each attempt. */
export function DeliveryPage({ id, webhookId }: DeliveryPageProps): JSX.Element {
  const path = `v1/webhooks/${encodeURIComponent(webhookId)}/deliveries/${encodeURIComponent(id)}`;
  const resource = useResource<DeliveryWithBody>((signal) => api.get(path, { signal }), [path]);
  const { data } = resource;
  useDeliveries(data === undefined ? [] : [data], () => resource.reload());
  const back = { href: linkTo(["webhooks", webhookId]), label: t("webhook") };
  const redeliver = useAction(async () => {
    await api.post<Delivery>(`${path}/redeliver`);
    toast({ message: t("redelivering") });
    // The answer has no attempts, and may be older than what the page has read meanwhile.
    await resource.reload();
  });
  if (data === undefined) return <LoadingPage title={t("delivery")} back={back} of={resource} />;
  return (
    <PageView
      title={data.event_type}
      back={back}
      badge={<DeliveryStatus of={data.status} />}
      actions={
        may("webhooks:write") && (
          <Button icon="refresh" {...redeliver}>
            {t("redeliver")}
          </Button>
        )
      }
    >
      <Card>
        <Facts
          of={[
            [t("delivery"), <Copied key="id" value={data.id} />],
            [
              t("columnEvent"),
              <a key="event" class="mono" href={linkTo(["events", data.event_id])}>
                {data.event_id}
              </a>,
            ],
            [t("columnCreated"), dateTime(data.created_at)],
            [t("columnNext"), data.next_attempt_at && dateTime(data.next_attempt_at)],
          ]}
        />
      </Card>
      <Card title={t("columnAttempts")}>
        {data.attempts.length === 0 && <p class="muted">{t("attemptsNone")}</p>}
        <ol class="attempts">
          {data.attempts.toReversed().map((attempt) => (
            <li key={attempt.id}>
              <Attempt attempt={attempt} isOpen={attempt === data.attempts.at(-1)} />
            </li>
          ))}
        </ol>
      </Card>
      <Card title={t("requestBody")}>
        {data.body === null ? (
          <p class="muted">{t("redacted")}</p>
        ) : (
          <Body text={data.body} label={t("requestBody")} />
        )}
      </Card>
    </PageView>
  );
}

interface AttemptProps {
  readonly attempt: DeliveryAttempt;
  readonly isOpen: boolean;
}

function Attempt({ attempt, isOpen }: AttemptProps): JSX.Element {
  const { number, manual, started_at, address, error } = attempt;
  const { response_headers, response_body, response_body_encoding, response_truncated } = attempt;
  const headers = Object.entries(response_headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
  return (
    <details class="attempt" open={isOpen}>
      <summary>
        <strong>{t("attemptNumber", { number })}</strong>
        <Response of={attempt} />
        {manual && <Badge>{t("attemptManual")}</Badge>}
        <span class="grow" />
        <time class="muted">{dateTime(started_at)}</time>
      </summary>
      <Facts
        of={[
          [t("attemptAddress"), address],
          [t("attemptError"), error && <code>{error}</code>],
        ]}
      />
      {headers !== "" && <Code text={headers} label={t("responseHeaders")} />}
      {response_body !== null && response_body !== "" && (
        <Body text={response_body} label={t("responseBody")} />
      )}
      {(response_truncated || response_body_encoding === "base64") && (
        <p class="muted">
          {response_truncated && t("responseTruncated")}{" "}
          {response_body_encoding === "base64" && t("responseBase64")}
        </p>
      )}
    </details>
  );
}

/** A body, laid out if it is JSON. */
function Body({ text, label }: { readonly text: string; readonly label: string }): JSX.Element {
  try {
    return <Json value={JSON.parse(text) as unknown} label={label} />;
  } catch {
    return <Code text={text} label={label} />;
  }
}
