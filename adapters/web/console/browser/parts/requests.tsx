import type { JSX } from "preact";
import { useState } from "preact/hooks";
import {
  Badge,
  Dialog,
  EmptyState,
  Icon,
  recentRequests,
  time,
  type RecordedRequest,
  type Tone,
} from "../../../shared/browser/index.ts";
import { curlOf } from "../curl.ts";
import { t } from "../texts.ts";
import { Code } from "./json.tsx";

/** The latest requests that the page made, each as a command for a terminal. */
export function RequestsDialog({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const [requests] = useState(() =>
    recentRequests.peek().filter(({ path }) => path.startsWith("/v1/")),
  );
  return (
    <Dialog title={t("requests")} onClose={onClose} isWide>
      <p class="muted">{t("requestsHint")}</p>
      {requests.length === 0 ? (
        <EmptyState icon="terminal" title={t("requestsEmpty")} />
      ) : (
        <ul class="requests">
          {requests.map((request, index) => (
            <RequestRow key={requests.length - index} request={request} />
          ))}
        </ul>
      )}
    </Dialog>
  );
}

function RequestRow({ request }: { readonly request: RecordedRequest }): JSX.Element {
  const { method, path, status, at } = request;
  const command = curlOf(request);
  return (
    <li>
      <details class="request">
        <summary>
          <Icon name="chevron-right" />
          <Method name={method} />
          <code class="grow truncate">{path}</code>
          <Badge tone={statusTone(status)}>{String(status)}</Badge>
          <time class="muted">{time(at)}</time>
        </summary>
        <Code text={command} label={t("curlLabel", { method, path })} />
      </details>
    </li>
  );
}

/** The tone of an HTTP status. */
export const statusTone = (status: number): Tone =>
  status < 300 ? "good" : status < 500 ? "warn" : "bad";

/** An HTTP method, in a column of constant width. */
export const Method = ({ name }: { readonly name: string }): JSX.Element => (
  <span class={`method method-${name.toLowerCase()}`}>{name}</span>
);
