import { fork } from "node:child_process";
import { once } from "node:events";

export interface Arrival {
  readonly id: string;
  /** Milliseconds of the machine's monotonic clock, which all its processes read alike. */
  readonly at: number;
}

export interface Receiver extends Disposable {
  readonly url: string;
  /** The next `count` arrivals. */
  arrivals(count: number): Promise<readonly Arrival[]>;
}

export async function startReceiver(): Promise<Receiver> {
  const child = fork(new URL("./receiver-process.ts", import.meta.url));
  const [port] = (await once(child, "message")) as [number];
  return {
    url: `http://127.0.0.1:${port}`,
    async arrivals(count) {
      const told = once(child, "message") as Promise<[readonly Arrival[]]>;
      child.send(count);
      const [arrivals] = await told;
      return arrivals;
    },
    [Symbol.dispose]: () => void child.kill(),
  };
}

export const monotonic = (): number => Number(process.hrtime.bigint()) / 1e6;
