import { functionOption, optionsObject, parseOptions } from "../../../src/kernel/index.ts";
import type { Clock, HttpClient } from "../../../src/ports/index.ts";
import { outcomeOption, scriptOption, textCondition } from "../scripts/options.ts";
import { Connectors } from "../world/ports/connectors.ts";
import { ReceiverCore } from "./core.ts";
import type { ReceiverScript, WebhookRequest } from "./script.ts";

/** Options of `scriptedReceiver()`. */
export interface ScriptedReceiverOptions {
  /**
   * Decides what happens to each request. By default, and where the script says nothing, the
   * receiver responds with status 200.
   */
  readonly script?: ReceiverScript | undefined;
  /**
   * Called with each request when an engine makes it, before it is recorded. For laws that must be
   * checked at that moment.
   */
  readonly onRequest?: ((request: WebhookRequest) => void) | undefined;
}

/** A webhook and its secret, as `webhooks.create` and `webhooks.rotateSecret` return them. */
export interface TrustedWebhook {
  /** The URL. */
  readonly url: string;
  /** The secret. Null changes nothing: replayed responses have no secret. */
  readonly secret: string | null;
}

/**
 * Stands for the servers at the URLs of all webhooks. It does what a test says, and records what it
 * gets. All engines of a world post to it.
 */
export interface ScriptedReceiver {
  /** All requests that engines made, in order, including those that did not arrive. */
  readonly requests: readonly WebhookRequest[];
  /** The requests that the receiver responded to with a 2xx status: it has taken their events. */
  readonly received: readonly WebhookRequest[];
  /** The requests with one event, in order. */
  requestsOf(event_id: string): readonly WebhookRequest[];
  /**
   * Tells the receiver a secret of a URL. From then on it verifies the signatures of requests to
   * this URL, and responds to invalid ones with status 401. It trusts every secret it was told.
   */
  trust(webhook: TrustedWebhook): void;
  /**
   * The HTTP client for an engine outside of a world: `http: { client: receiver.client(clock) }`.
   */
  client(clock: Clock): HttpClient;
}

export const scriptedReceivers = new Connectors<ScriptedReceiver, HttpClient>();

const optionsSchema = optionsObject({
  script: scriptOption<ReceiverScript>(
    { url: textCondition.optional(), event: textCondition.optional() },
    {
      attempts: outcomeOption(
        ["answered", "answer_lost", "hangs", "unreachable"],
        (given) => typeof given === "number",
      ),
    },
  ).default([]),
  onRequest: functionOption<(request: WebhookRequest) => void>().optional(),
});

/**
 * Returns a receiver of webhooks that does what a test says, by URL, by event or by a function.
 * @throws TidingsError `invalid_option` when an option is wrong or unknown
 */
export function scriptedReceiver(options: ScriptedReceiverOptions = {}): ScriptedReceiver {
  const { script, onRequest } = parseOptions("scriptedReceiver: ", optionsSchema, options);
  const core = new ReceiverCore({ script, onRequest });
  const receiver: ScriptedReceiver = {
    get requests() {
      return core.requests;
    },
    get received() {
      return core.requests.filter(({ status }) => status !== null && isSuccess(status));
    },
    requestsOf: (id) => core.requests.filter(({ event }) => event.id === id),
    trust({ url, secret }) {
      if (secret !== null) core.trust(url, secret);
    },
    client: (clock) => core.client(clock),
  };
  scriptedReceivers.add(receiver, (context) => core.join(context));
  return receiver;
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
