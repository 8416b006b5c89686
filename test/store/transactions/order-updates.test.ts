import fc from "fast-check";
import { expect, it } from "vitest";
import { attempts } from "../../../src/messages/rows.ts";
import { orderUpdates, type PlannedUpdate } from "../../../src/store/transactions/order-updates.ts";

/** Changes the provider id of attempt `n`. The provider ids of a transport are unique. */
function move(n: number, from: string | null, to: string | null): PlannedUpdate {
  const row = { id: `att_${n}`, message_id: `msg_${n}`, number: 1, transport: "a", version: 1 };
  return {
    base: { ...row, provider_message_id: from },
    write: {
      kind: "update",
      collection: attempts,
      key: [row.id],
      version: 1,
      row: { ...row, provider_message_id: to, version: 2 },
      changed: ["provider_message_id"],
    },
  };
}

const idOf = (row: Readonly<Record<string, unknown>>): unknown => row["provider_message_id"];

it("updates are ordered so that each unique key is free when a row takes it", () => {
  // Each row takes the key of the next one, and the last one of a chain takes a new key or none.
  const chain = fc.record({ length: fc.integer({ min: 1, max: 6 }), gives: fc.boolean() });
  const order = fc.infiniteStream(fc.nat());
  fc.assert(
    fc.property(fc.array(chain, { minLength: 1, maxLength: 4 }), order, (chains, numbers) => {
      const updates = chains.flatMap(({ length, gives }, c) =>
        Array.from({ length }, (_, n) => {
          const isLast = n === length - 1;
          return move(10 * c + n, `${c} ${n}`, isLast && gives ? null : `${c} ${n + 1}`);
        }),
      );
      const shuffled = updates
        .map((update) => ({ update, at: numbers.next().value ?? 0 }))
        .toSorted((a, b) => a.at - b.at)
        .map(({ update }) => update);
      const ordered = orderUpdates(shuffled);
      expect(new Set(ordered)).toEqual(new Set(updates));
      expect(ordered, "Each update is in the order once.").toHaveLength(updates.length);
      const taken = new Set(updates.map(({ base }) => idOf(base)));
      for (const { base, write } of ordered) {
        taken.delete(idOf(base));
        const next = idOf(write.row);
        expect(taken.has(next), `${String(next)} is free`).toBe(false);
        if (next !== null) taken.add(next);
      }
    }),
  );
});
