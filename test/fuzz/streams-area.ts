/** Clients of event streams that resume from anywhere, read slowly, stop reading or vanish. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { area } from "./area.ts";
import { fuzzWorld, type FuzzWorld } from "./world.ts";

interface Client {
  readonly of: "events" | "visitor";
  readonly last: string;
  /** `slow`: reads one piece at a time. `deaf`: reads nothing. `half`: sends its end at once. */
  readonly reads: "all" | "slow" | "deaf" | "half";
  /** After which of the events it vanishes, with a reset or without. */
  readonly leaves: number;
  readonly resets: boolean;
}

const client: fc.Arbitrary<Client> = fc.record({
  of: fc.constantFrom("events", "visitor"),
  last: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom("", "{{event}}", "0", "1") },
    { weight: 1, arbitrary: fc.stringMatching(/^[!-~]{1,30}$/) },
  ),
  reads: fc.constantFrom("all", "slow", "deaf", "half"),
  leaves: fc.nat({ max: 6 }),
  resets: fc.boolean(),
});

interface StreamCase {
  readonly clients: readonly Client[];
  readonly events: number;
}

/** A stream that is read as bytes. */
interface Open {
  readonly client: Client;
  readonly socket: Socket;
  readonly received: Buffer[];
}

function open(port: number, { own }: FuzzWorld, each: Client, sent: (head: string) => void): Open {
  const last = each.last.replace("{{event}}", own.ids["events"] ?? "");
  const isVisitor = each.of === "visitor";
  const path = isVisitor
    ? `/v1/webchat/sessions/${own.ids["webchat"] ?? ""}/stream`
    : "/v1/events/stream?typing=true";
  const lines = [
    `GET ${path} HTTP/1.1`,
    "Host: localhost",
    `Authorization: Bearer ${isVisitor ? own.token : own.secret}`,
    ...(last === "" ? [] : [`Last-Event-ID: ${last}`]),
    "",
    "",
  ];
  const head = lines.join("\r\n");
  sent(head);
  const received: Buffer[] = [];
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {});
  socket.write(head);
  if (each.reads === "half") socket.end();
  if (each.reads === "deaf") socket.pause();
  else {
    socket.on("data", (data: Buffer) => {
      received.push(data);
      if (each.reads !== "slow") return;
      socket.pause();
      void setImmediate().then(() => socket.resume());
    });
  }
  return { client: each, socket, received };
}

/** Throws unless the bytes are the beginning of a response with a stream of events. */
function checkStream(bytes: Buffer): void {
  const split = bytes.indexOf("\r\n\r\n");
  if (split === -1) return;
  const head = bytes.toString("latin1", 0, split);
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
  if (!(status < 500)) throw new Error(`a server error: ${bytes.toString().slice(0, 1_000)}`);
  if (!/content-type: text\/event-stream/i.test(head)) return;
  const text = bytes
    .toString("utf8", split + 4)
    .split("\r\n")
    .filter((_, i) => i % 2 === 1)
    .join("");
  // The last event may be incomplete.
  for (const event of text.split("\n\n").slice(0, -1)) {
    const fields = event.split("\n").map((line) => line.split(":", 1).join(""));
    const unknown = fields.filter((name) => !["", "id", "event", "data", "retry"].includes(name));
    if (unknown.length > 0) throw new Error(`no event: ${JSON.stringify(event)}`);
    const data = event.split("\n").filter((line) => line.startsWith("data: "));
    if (data.length > 0) JSON.parse(data.map((line) => line.slice(6)).join("\n"));
  }
}

export const streamsArea = area<StreamCase>({
  name: "streams",
  share: 1,
  cases: fc.record({
    clients: fc.array(client, { minLength: 1, maxLength: 8 }),
    events: fc.nat({ max: 6 }),
  }),
  async run({ clients, events }, sent) {
    await using world = await fuzzWorld();
    const { clock, own } = world;
    const { server, port } = await world.serve();
    const streams = clients.map((each) => open(port, world, each, sent));
    await Promise.all(streams.map(({ socket }) => once(socket, "connect")));
    const leave = (at: number): void => {
      for (const { client: each, socket } of streams) {
        if (each.leaves !== at) continue;
        if (each.resets) socket.resetAndDestroy();
        else socket.destroy();
      }
    };
    for (let i = 0; i <= events; i++) {
      leave(i);
      const path = i % 2 === 0 ? "/v1/sandbox/events" : `/v1/conversations/${own.chat}/messages`;
      const body = i % 2 === 0 ? { type: "message.received" } : { body: `\u{1f600}\n\r ${i}` };
      await world.ask({ method: "POST", path, key: own.secret, body });
      await clock.advance(500);
      await setImmediate();
    }
    // A heartbeat finds clients that went without a word.
    await clock.advance(20_000);
    for (const { received } of streams) checkStream(Buffer.concat(received));
    for (const { socket } of streams) socket.destroy();
    await emptied(server);
    await world.check();
  },
});

/** Waits until no connection is left. */
async function emptied(server: Awaited<ReturnType<FuzzWorld["serve"]>>["server"]): Promise<void> {
  const connections = (): Promise<number> =>
    new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
  for (let rounds = 0; (await connections()) > 0; rounds++) {
    if (rounds > 10_000) throw new Error("connections of clients that left are still open");
    await setImmediate();
  }
}
