/** An engine as a process. After a crash, its storage calls fail and its requests are aborted. */
import type { MessagingEngine } from "../../src/engine.ts";
import { TidingsError } from "../../src/kernel/errors.ts";
import type { HttpClient } from "../../src/ports/http-client.ts";
import type { StoragePort } from "../../src/ports/storage.ts";
import { stopped } from "../support/engines/world.ts";
import { over } from "../support/over.ts";
import { withGroups } from "../support/storage/groups.ts";
import type { WebhookWorld } from "./world.ts";

export interface Process {
  readonly engine: MessagingEngine;
  /** The number of its requests that a stop or crash aborted. */
  readonly cutOff: () => number;
  crash(): Promise<void>;
  /** Its next commits succeed, but their answers are lost. */
  lose(commits: number): void;
  stop(haste: boolean): Promise<void>;
}

export async function startProcess(world: WebhookWorld): Promise<Process> {
  const gone = new AbortController();
  let losing = 0;
  let cutOff = 0;
  const cut = (): TidingsError => new TidingsError("storage_unavailable", "The line is cut.");
  const alive = (): void => {
    if (gone.signal.aborted) throw cut();
  };
  const port = world.connect();
  const groups = withGroups(port, {
    read(lookups, group) {
      alive();
      return group.read(lookups);
    },
    async commit(writes, group) {
      alive();
      await group.commit(writes);
      if (losing === 0) return;
      losing--;
      throw cut();
    },
  });
  const line: StoragePort = over(groups, {
    reader: over(port.reader, {
      async get(lookups) {
        alive();
        return port.reader.get(lookups);
      },
      async range(range) {
        alive();
        return port.reader.range(range);
      },
    }),
  });
  const client: HttpClient = {
    async send(request) {
      const signal =
        request.signal === undefined ? gone.signal : AbortSignal.any([request.signal, gone.signal]);
      // A dead process sends nothing.
      if (gone.signal.aborted) return new Promise(() => {});
      try {
        return await world.receivers.client.send({ ...request, signal });
      } finally {
        if (signal.aborted) cutOff++;
      }
    },
    close() {},
  };
  const engine = await world.start({ http: { client } }, line);
  return {
    engine,
    cutOff: () => cutOff,
    async crash() {
      await world.clock.settle();
      gone.abort();
      // Let its remaining work fail.
      await stopped(engine, world.clock);
    },
    lose(commits) {
      losing = commits;
    },
    stop: (haste) => stopped(engine, world.clock, haste ? 0 : 60_000),
  };
}
