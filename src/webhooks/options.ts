import type { Runtime } from "../operations/index.ts";
import type { Destinations, HttpClient } from "../ports/index.ts";
import type { Mode } from "../kernel/index.ts";

/** The way out of the engine, for what users give URLs of. */
export interface HttpOptions {
  /** Such as `httpClient()` of "tidings/http-client". */
  readonly client: HttpClient;
  /**
   * What may be called besides the public Internet: host names (`hooks.internal`: that very name, wherever it leads), addresses and
   * networks (`10.1.0.0/16`, `fd00::/8`). Up to 1,000; by default nothing.
   */
  readonly allow?: readonly string[];
}

export interface WebhookOptions {
  /** How long an attempt may take, from the look-up of the name to the last byte of the answer: 1 to 60 seconds, by default 15. */
  readonly deadlineSeconds?: number;
}

export interface HttpSettings {
  readonly client: HttpClient;
  /** Plain http is for sandboxes. */
  readonly destinations: Readonly<Record<Mode, Destinations>>;
}

/** What webhooks' jobs run with. */
export interface WebhookRuntime extends Runtime {
  /** Undefined when no HTTP client is set up in this engine. */
  readonly http: HttpSettings | undefined;
  readonly webhooks: Required<WebhookOptions>;
}
