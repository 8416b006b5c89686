import { StorageConflict, type Write } from "../../../../src/ports/index.ts";
import { failsAs, failure, same } from "../checks.ts";
import { itemById, sumByDay, sums } from "./collections.ts";
import {
  allIds,
  idsInLog,
  insertNew,
  log,
  portWith,
  write,
  type StorageChecks,
} from "./fixture.ts";

/** Transactions of the host application, if the storage has them. */
export const hostTransactionChecks: StorageChecks = {
  "a group's rows of a log come after those of transactions that committed before": async (
    ports,
  ) => {
    const port = await portWith(ports, "transaction", "host");
    if (port === undefined) return;
    await write(port, log("a"));
    await port.transaction(async (handle) => port.host(handle).commit([log("c"), log("b")]));
    // Nothing reads the log in between.
    await write(port, log("0"));
    same(await idsInLog(port), ["a", "c", "b", "0"], "rows by position");
  },

  "a transaction commits all writes of its groups, or none": async (ports) => {
    const port = await portWith(ports, "transaction", "host");
    if (port === undefined) return;
    const answered = await port.transaction(async (handle) => {
      await port.host(handle).commit([insertNew("a"), log("e")]);
      const [[seen] = []] = await port
        .host(handle)
        .read([{ index: itemById, key: ["a"], limit: 1 }]);
      same(seen?.["id"], "a", "what the transaction sees of itself");
      same(await allIds(port), [], "what others see of it");
      return "done";
    });
    same(answered, "done", "the answer");
    same(await allIds(port), ["a"], "rows after it");
    same(await idsInLog(port), ["e"], "the log after it");
    const failed = port.transaction(async (handle) => {
      await port.host(handle).commit([insertNew("b")]);
      throw new RangeError("no");
    });
    same((await failure(() => failed, "the work")).message, "no", "the error of the work");
    const conflicted = port.transaction(async (handle) => {
      await failsAs(
        StorageConflict,
        async () => port.host(handle).commit([insertNew("c"), insertNew("a")]),
        "a taken key",
      );
      await failsAs(
        StorageConflict,
        async () => port.host(handle).commit(Array.from("tuvwxyzabc", insertNew)),
        "a taken key among many",
      );
      await port.host(handle).commit([insertNew("d")]);
    });
    await conflicted;
    same(await allIds(port), ["a", "d"], "rows at the end");
  },

  "a transaction that has ended cannot be joined": async (ports) => {
    const port = await portWith(ports, "transaction", "host");
    if (port === undefined) return;
    let ended: unknown;
    await port.transaction(async (handle) => {
      ended = handle;
    });
    await failure(
      async () => port.host(ended).commit([insertNew("a")]),
      "a write after the commit",
    );
    const failed = port.transaction(async (handle) => {
      ended = handle;
      throw new RangeError("no");
    });
    await failure(() => failed, "the work");
    await failure(
      async () => port.host(ended).commit([insertNew("b")]),
      "a write after the rollback",
    );
    same(await allIds(port), [], "rows");
  },

  "what a transaction adds to counters counts when it commits, and delays nobody": async (
    ports,
  ) => {
    const port = await portWith(ports, "transaction", "host");
    if (port === undefined) return;
    const other = await ports.port();
    const { transactions } = port.capabilities;
    const add: Write = {
      kind: "add",
      collection: sums,
      row: { day: "mon", kind: "sms", count: 1, cost: 0.5 },
    };
    const counted = async (): Promise<unknown[]> => {
      const all = { index: sumByDay, prefix: [], order: "ascending", limit: 9 } as const;
      return (await other.reader.range(all)).map(({ count, cost }) => [count, cost]);
    };
    const failed = port.transaction(async (handle) => {
      await port.host(handle).commit([add]);
      throw new RangeError("no");
    });
    await failure(() => failed, "the work");
    same(await counted(), [], "sums after a rollback");
    await write(other, add);
    await port.transaction(async (handle) => {
      await port.host(handle).commit([add]);
      await port.host(handle).commit([add]);
      // A storage with one transaction at a time has a single writer.
      if (transactions > 1) await write(other, add);
      same(await counted(), transactions > 1 ? [[2, 1]] : [[1, 0.5]], "sums before the commit");
    });
    same(await counted(), transactions > 1 ? [[4, 2]] : [[3, 1.5]], "sums after it");
    await write(other, add);
    const lookup = { index: sumByDay, key: ["mon", "sms"], limit: 1 };
    const [[found] = []] = await port.reader.get([lookup]);
    same(found?.["count"], transactions > 1 ? 5 : 4, "a look-up of the sum");
  },

  "only calls from inside an open transaction are recognized as such": async (ports) => {
    const port = await portWith(ports, "transaction", "isInsideTransaction");
    if (port === undefined) return;
    const isInside = (): boolean => port.isInsideTransaction();
    const begun = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const open = port.transaction(async () => {
      same(isInside(), true, "inside at the beginning");
      begun.resolve();
      await go.promise;
      same(isInside(), true, "inside after a wait");
      return { later: ended.promise.then(isInside) };
    });
    await begun.promise;
    same(isInside(), false, "outside while the transaction is open");
    go.resolve();
    const { later } = await open;
    ended.resolve();
    same(await later, false, "a call of the work after the end of the transaction");
    same(isInside(), false, "outside after the end");
  },
};
