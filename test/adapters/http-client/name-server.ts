import { createSocket } from "node:dgram";
import { once } from "node:events";
import { onTestFinished } from "vitest";

/**
 * How a name server answers for a name: with addresses, `nothing` (no such name), `failure`
 * (SERVFAIL), `doubt` (no IPv4 address, and a failure for IPv6), or not at all.
 */
export type Answer = readonly string[] | "nothing" | "failure" | "doubt" | "silence";

export interface NameServer {
  /** The server's address, for the option `dnsServers`. */
  readonly address: string;
  /** The names of all queries. */
  readonly asked: readonly string[];
}

export interface NameServerOptions {
  /**
   * Queries for IPv6 addresses are answered once this is fulfilled. If it never is, they are
   * dropped, as some firewalls do. Default: at once.
   */
  readonly beforeAAAA?: Promise<void>;
}

/**
 * A DNS server for a few names (RFC 1035 and 3596), on its own port. Given several answers for a
 * name, it uses one for each look-up.
 */
export async function nameServer(
  names: Readonly<Record<string, Answer | readonly Answer[]>>,
  { beforeAAAA = Promise.resolve() }: NameServerOptions = {},
): Promise<NameServer> {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  let isClosed = false;
  const turns = new Map<string, number>();
  socket.on("message", (query, from) => {
    const { name, type, end } = question(query);
    if (type === A) asked.push(name);
    const turn = turns.get(`${name} ${type}`) ?? 0;
    turns.set(`${name} ${type}`, turn + 1);
    const answers = answersOf(names[name] ?? "nothing");
    const answer = answers[Math.min(turn, answers.length - 1)] ?? "nothing";
    if (answer === "silence") return;
    const addresses =
      typeof answer === "string"
        ? []
        : answer.filter((each) => each.includes(":") === (type === AAAA));
    const code =
      answer === "nothing"
        ? 3
        : answer === "failure" || (answer === "doubt" && type === AAAA)
          ? 2
          : 0;
    const header = Buffer.from([
      ...query.subarray(0, 2),
      0x81,
      0x80 | code,
      0,
      1,
      0,
      addresses.length,
      0,
      0,
      0,
      0,
    ]);
    const response = Buffer.concat([header, query.subarray(12, end), ...addresses.map(record)]);
    const respond = (): void => {
      if (!isClosed) socket.send(response, from.port, from.address);
    };
    if (type === AAAA) void beforeAAAA.then(respond);
    else respond();
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  onTestFinished(() => {
    isClosed = true;
    socket.close();
  });
  return { address: `127.0.0.1:${socket.address().port}`, asked };
}

const A = 1;
const AAAA = 28;

function answersOf(told: Answer | readonly Answer[]): readonly Answer[] {
  if (typeof told === "string") return [told];
  const severally = told.some((each) => Array.isArray(each) || /^[a-z]+$/.test(String(each)));
  return severally ? (told as readonly Answer[]) : [told as readonly string[]];
}

function question(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** A resource record for the question's name (as a pointer), with a time to live of 0. */
function record(address: string): Buffer {
  const data = address.includes(":") ? ipv6(address) : address.split(".").map(Number);
  return Buffer.from([
    0xc0,
    12,
    0,
    data.length === 4 ? A : AAAA,
    0,
    1,
    0,
    0,
    0,
    0,
    0,
    data.length,
    ...data,
  ]);
}

function ipv6(address: string): number[] {
  const [before = "", after] = address.split("::");
  const left = before === "" ? [] : before.split(":");
  const right = after === undefined || after === "" ? [] : after.split(":");
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill("0"), ...right];
  return groups.flatMap((group) => [
    Number.parseInt(group, 16) >> 8,
    Number.parseInt(group, 16) & 255,
  ]);
}
