import fc from "fast-check";
import { expect, it } from "vitest";
import { CommandQueue, type Member } from "../../src/store/command-queue.ts";

interface Command extends Member {
  readonly isBackground: boolean;
}

function command(place: number, isBackground: boolean): Command {
  return {
    work: () => Promise.resolve(),
    resolve: () => {},
    reject: () => {},
    place,
    isBackground,
    claims: false,
    conflicts: 0,
    alone: false,
    begun: undefined,
  };
}

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("add" as const), isBackground: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("take" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("run again" as const), taken: fc.nat(5) }),
  },
);

it("a queue gives callers every fourth turn, and each kind its order of arrival", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: "max" }), (steps) => {
      const queue = new CommandQueue({ takesTurns: true });
      const waiting = {
        again: [] as Member[],
        background: [] as Member[],
        callers: [] as Member[],
      };
      const taken: Member[] = [];
      let places = 0;
      /** How many of the engine's own commands were taken since the last caller's. */
      let turns = 0;
      const take = (): void => {
        const { again, background, callers } = waiting;
        const first = queue.first;
        const member = queue.take();
        expect(member, "`first` is what `take` returns.").toBe(first);
        if (again.length > 0) {
          expect(member, "Commands that run again come first, in order.").toBe(again.shift());
        } else if (member?.isBackground === true) {
          expect(member, "The engine's own work is in order.").toBe(background.shift());
          turns++;
          if (callers.length > 0) {
            expect(turns, "A caller waits for three others at most.").toBeLessThanOrEqual(3);
          }
        } else {
          expect(member, "Callers' commands are in order.").toBe(callers.shift());
          if (member !== undefined && background.length > 0) {
            expect(turns, "The engine's own work has three turns of four.").toBeGreaterThanOrEqual(
              3,
            );
          }
          turns = 0;
        }
        if (member !== undefined) taken.push(member);
      };
      for (const each of steps) {
        if (each.kind === "add") {
          const member = command(places++, each.isBackground);
          queue.add(member);
          waiting[each.isBackground ? "background" : "callers"].push(member);
        } else if (each.kind === "take") take();
        else {
          const members = taken.splice(-each.taken, each.taken);
          queue.addAgain(members);
          waiting.again = [...waiting.again, ...members].toSorted((a, b) => a.place - b.place);
        }
      }
      const left = Object.values(waiting).flat().length;
      expect(queue.size, "The size is the number of waiting commands.").toBe(left);
      for (let n = 0; n < left; n++) take();
      expect(queue.take(), "Nothing is lost or taken twice.").toBeUndefined();
    }),
  );
});

it("a queue without turns gives all commands in the order of their arrival", () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 50 }), (kinds) => {
      const queue = new CommandQueue({ takesTurns: false });
      for (const [place, isBackground] of kinds.entries()) queue.add(command(place, isBackground));
      const places = kinds.map(() => queue.take()?.place);
      expect(places, "The places ascend.").toEqual([...kinds.keys()]);
    }),
  );
});
