import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { expect, test } from "vitest";
import { authority } from "../adapters/http-client/authority.ts";
import { eventually } from "../support/eventually.ts";
import { cases } from "../support/runs.ts";
import { epoch } from "./clock.ts";
import type { ProcessSettings } from "./engines/engine-main.ts";
import { EngineProcess } from "./engines/engine-process.ts";
import { listen, post } from "./outside/http.ts";
import type { SendCall } from "./outside/protocol.ts";
import { crashedStorage, storageNames } from "./storages/crashed-storage.ts";

/** A carrier and a receiver of webhooks. They answer nothing until `isAnswering`. */
class Outside {
  isAnswering = false;
  readonly calls: SendCall[] = [];
  /** The endpoints that got requests. */
  readonly requests: string[] = [];

  readonly carrier = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const call = (await json(message)) as SendCall;
    if (message.url === "/send") this.calls.push(call);
    if (!this.isAnswering) return;
    const sent = { outcome: "accepted", provider_message_id: call.attempt_id };
    response.end(JSON.stringify(message.url === "/send" ? sent : { outcome: "unknown" }));
  };

  readonly receiver = (request: IncomingMessage, response: ServerResponse): void => {
    this.requests.push((request.url ?? "").slice(1));
    request.resume();
    if (this.isAnswering) response.writeHead(204).end();
  };
}

test.each(cases(storageNames, (name) => name === "sqlite"))(
  "after kill -9 on %s, a restarted engine continues before the leases of the killed one expire",
  async (name) => {
    await using storage = await crashedStorage(name);
    const outside = new Outside();
    const { server: carrier, url } = await listen((...args) => void outside.carrier(...args));
    const root = await authority("the receivers' authority");
    const receiver = createServer(await root.issue("localhost"), outside.receiver);
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    const directory = await mkdtemp(join(tmpdir(), "tidings-restart-"));
    const certificate = join(directory, "authority.pem");
    await writeFile(certificate, root.cert);
    const settings: ProcessSettings = {
      storage: storage.settings,
      carrier: url,
      receiver: `https://localhost:${(receiver.address() as AddressInfo).port}`,
      // Real time, in which a lease lasts a minute.
      epoch: epoch(1),
      setup: false,
    };
    const environment = { NODE_EXTRA_CA_CERTS: certificate };
    let engine = new EngineProcess({ ...settings, setup: true }, environment);
    // Before the storage is removed: an engine reports that its database was deleted.
    await using ending = new AsyncDisposableStack();
    ending.defer(async () => {
      await engine.kill();
      for (const server of [carrier, receiver]) {
        server.close();
        server.closeAllConnections();
      }
      await rm(directory, { recursive: true });
    });
    const apiKey = await engine.line();
    const send = async (body: string): Promise<string> => {
      const headers = { authorization: `Bearer ${apiKey}` };
      const message = JSON.stringify({ to: "+12120000001", body });
      const reply = await post(`${engine.url}/v1/messages`, message, { headers });
      return (JSON.parse(reply.body) as { readonly id: string }).id;
    };

    engine = new EngineProcess(settings, environment);
    await engine.ready();
    const ids = [await send("under way"), await send("waits for it")];
    const webhooks = ["contacts", "conversations"];
    await eventually(() => {
      expect(outside.calls.map(({ message_id }) => message_id)).toEqual([ids[0]]);
      expect(outside.requests).toEqual(expect.arrayContaining(webhooks));
    });
    await engine.kill();
    outside.isAnswering = true;
    engine = engine.restart();
    await engine.ready();

    await using view = storage.view();
    await eventually(async () => {
      const deliveries = await view.deliveries();
      expect(outside.calls.map(({ message_id }) => message_id)).toEqual(ids);
      expect(deliveries.map(({ endpoint }) => endpoint).toSorted()).toEqual(webhooks);
      expect(deliveries.every(({ status }) => status === "succeeded")).toBe(true);
    });
    const [first, second] = (await view.attempts()).toSorted(
      (a, b) => a.leased_until - b.leased_until,
    );
    expect(first).toMatchObject({ outcome: "ambiguous", error_code: "answer_lost" });
    const expiry = first?.leased_until ?? 0;
    expect(first?.answered_at, "when the answer was recorded as lost").toBeLessThan(expiry);
    expect(
      (second?.leased_until ?? Infinity) - 60_000,
      "when the next message was handed over",
    ).toBeLessThan(expiry);
    for (const { started_at } of await view.deliveryAttempts()) {
      expect(started_at, "when the events were posted").toBeLessThan(expiry);
    }
  },
);
