/** The console: a page for developers and for people who run the service. */
import type { Mountable } from "../../../../src/api/index.ts";
import type { PageOptions } from "../../shared/server/options.ts";
import { mountPage, type PageMount } from "../../shared/server/page.ts";

export type { PageMount } from "../../shared/server/page.ts";
export type {
  Authorize,
  PageAccess,
  PageOptions,
  PageRequest,
  PageTexts,
} from "../../shared/server/options.ts";

/**
 * Returns the console, a page for developers and for people who run the service. Mount it like an
 * engine: `app.use("/console", expressHandler(consoleHandler(engine, { authorize })))`. Without
 * `authorize` it works only on this machine, with the sandbox, after a sign-in with its `token`.
 * @throws TidingsError `invalid_option` when an argument is wrong or an option is unknown;
 *   `not_configured` when the page has not been built
 */
export function consoleHandler(engine: Mountable, options: PageOptions = {}): PageMount {
  return mountPage(engine, options, {
    subject: "consoleHandler",
    name: "console",
    title: "Console",
  });
}
