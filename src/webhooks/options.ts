/** The engine's options for webhooks, and what the webhook jobs get of them. */
import type { Checked, Mode } from "../kernel/index.ts";
import type { Runtime } from "../operations/index.ts";
import type { Destinations, HttpClient } from "../ports/index.ts";

/** How the engine calls URLs that users give. */
export interface HttpOptions {
  /** The HTTP client, such as `httpClient()` of "tidings/http-client". */
  readonly client: HttpClient;
  /**
   * Private destinations that may be called in addition to the public Internet: host names
   * (`hooks.internal` matches only that name, whatever address it resolves to), IP addresses and
   * networks (`10.1.0.0/16`, `fd00::/8`). At most 1,000.
   * @default []
   */
  readonly allow?: readonly string[] | undefined;
}

/** Options of webhooks. */
export interface WebhookOptions {
  /**
   * The deadline of an attempt in seconds, from the DNS lookup to the last byte of the response: 1
   * to 60.
   * @default 15
   */
  readonly deadlineSeconds?: number | undefined;
}

export interface HttpSettings {
  readonly client: HttpClient;
  /** The destinations that may be called in each mode. Only the sandbox allows plain http. */
  readonly destinations: Readonly<Record<Mode, Destinations>>;
}

/** The dependencies of the webhook jobs. */
export interface WebhookRuntime extends Runtime {
  /** Undefined when the engine has no option `http`. */
  readonly http: HttpSettings | undefined;
  readonly webhooks: Checked<WebhookOptions>;
}
