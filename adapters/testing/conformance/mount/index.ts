import type { Mountable } from "../../../../src/api/index.ts";
import { hasMethods, option, optionsObject, parseOptions } from "../../../../src/kernel/index.ts";
import { defineSuite, testOptions, type TestRunner } from "../suite.ts";
import { connectionChecks } from "./connections.ts";
import { Fixture, type MountNeed, type MountUnderTest } from "./fixture.ts";
import { requestChecks } from "./requests.ts";
import { pathChecks, responseChecks } from "./responses.ts";
import { streamChecks } from "./streams.ts";

/** The mount that `mountConformance` tests. */
export interface MountConformance {
  /**
   * Starts a server on this machine that mounts the engine. A test may call it several times. The
   * engine has only `api` and `paths`, and records what it gets.
   */
  serve(engine: Mountable): Promise<MountUnderTest>;
  /**
   * What the mount or its framework cannot do, each with the reason. Tests that need it are
   * not run. They pass, and their names give the reason.
   */
  readonly unable?: Partial<Readonly<Record<MountNeed, string>>> | undefined;
}

const argumentsSchema = optionsObject({
  ...testOptions,
  conformance: option<MountConformance>("{ serve, unable }", (given) => hasMethods(given, "serve")),
});

/**
 * Tests that a mount passes HTTP requests to the engine, and its responses to clients, in the way
 * that the engine relies on. Run it with your server: your middleware, your framework, your mount.
 *
 * ```ts
 * import { describe, it } from "vitest";
 * mountConformance({ describe, it }, "our server", {
 *   serve: async (engine) => {
 *     const server = express().use("/messaging", expressHandler(engine)).listen(0);
 *     await once(server, "listening");
 *     const close = async () => void server.close().closeAllConnections();
 *     return { url: `http://127.0.0.1:${server.address().port}/messaging`, close };
 *   },
 * });
 * ```
 * @throws TidingsError `invalid_option` when an argument is wrong
 */
export function mountConformance(
  runner: TestRunner,
  name: string,
  conformance: MountConformance,
): void {
  parseOptions("mountConformance: ", argumentsSchema, { runner, name, conformance });
  const { unable = {} } = conformance;
  defineSuite(runner, {
    title: `${name} as a mount`,
    groups: [
      ["requests", requestChecks],
      ["responses", responseChecks],
      ["paths", pathChecks],
      ["streams", streamChecks],
      ["connections", connectionChecks],
    ],
    unable,
    async withFixture(_needs, check) {
      const fixture = new Fixture((engine) => conformance.serve(engine));
      try {
        await check(fixture);
      } finally {
        await fixture.close();
      }
    },
  });
}
