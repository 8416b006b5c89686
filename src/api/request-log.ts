import { LogLimit } from "../kernel/index.ts";
import type { Clock, Logger } from "../ports/index.ts";
import type { Exchange } from "./http.ts";
import { publicError } from "./responses/problem-response.ts";

interface RequestLogOptions {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Logs requests that could not be answered as they should. */
export class RequestLog {
  readonly #logger: Logger;
  readonly #limit: LogLimit;

  constructor({ clock, logger }: RequestLogOptions) {
    this.#logger = logger;
    this.#limit = new LogLimit(clock);
  }

  /** Logs the error of a request: as an error, unless it is a known state of the service. */
  failed(err: unknown, { request: { method, path }, request_id }: Exchange): void {
    const logger = this.#logger;
    const { code, message } = publicError(err);
    const facts = { request_id, method, path };
    switch (code) {
      // A normal stop is not an error of the service. The client repeats the request.
      case "shutting_down":
        logger.debug({ err, ...facts }, "a request was refused because the engine stops");
        return;
      // Clients cause it, visitors too, who must not be able to fill the log.
      case "overloaded": {
        const refused = this.#limit.note(code, message);
        if (refused === undefined) return;
        const { count, reasons } = refused;
        logger.warn(
          { requests: count, reasons },
          "requests were refused, as too much was going on",
        );
        return;
      }
      // The server that a contact named did not send its file. The person who asked for it is told.
      case "media_unavailable":
        logger.debug({ ...facts, code }, "a file could not be loaded");
        return;
      // The client is told, and would get the same answer again.
      case "not_configured":
        logger.debug(facts, "a request needs an option that the engine lacks");
        return;
      // In an outage, or while a table is locked, every request fails, and the log may be on the
      // disk that is full.
      case "storage_unavailable":
      case "storage_contended":
      case "storage_damaged": {
        const failed = this.#limit.note(code);
        if (failed === undefined) return;
        logger.error({ err, ...facts, requests: failed.count }, "a request failed");
        return;
      }
      default:
        logger.error({ err, ...facts }, "a request failed");
    }
  }
}
