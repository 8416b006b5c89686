import fc from "fast-check";
import { expect, it } from "vitest";
import { CommandQueue, type Member } from "../../src/store/command-queue.ts";

interface Kind {
  readonly isBackground: boolean;
  readonly claims: boolean;
}

function command(place: number, { isBackground, claims }: Kind): Member {
  return {
    work: () => Promise.resolve(),
    resolve: () => {},
    reject: () => {},
    place,
    isBackground,
    claims,
    conflicts: 0,
    alone: false,
    begun: undefined,
  };
}

const kinds: readonly Kind[] = [
  { isBackground: false, claims: false },
  { isBackground: true, claims: false },
  { isBackground: true, claims: true },
];

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("add" as const), kind: fc.constantFrom(...kinds) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("take" as const), max: fc.integer({ min: 1, max: 9 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("run again" as const),
      taken: fc.nat(5),
      alone: fc.boolean(),
    }),
  },
);

/** The waiting commands of a queue, in the order in which each list must be taken. */
class Waiting {
  readonly lists = {
    again: [] as Member[],
    claiming: [] as Member[],
    background: [] as Member[],
    callers: [] as Member[],
  };

  listOf(member: Member, separatesClaims: boolean): Member[] {
    const { again, claiming, background, callers } = this.lists;
    if (again.includes(member)) return again;
    if (separatesClaims && member.claims) return claiming;
    return member.isBackground ? background : callers;
  }
}

it.each([true, false])(
  "a queue (separate claims: %s) takes commands in order, and lets nobody wait for long",
  (separatesClaims) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: "max" }), (steps) => {
        const queue = new CommandQueue({ separatesClaims });
        const waiting = new Waiting();
        const { lists } = waiting;
        const taken: Member[] = [];
        let places = 0;
        /** How many of the engine's own commands were taken since the last caller's. */
        let turns = 0;
        const most = separatesClaims ? 1 : 3;
        /** Whether the first command of the last group claims rows. */
        let wasClaiming = false;
        const takeOne = (member: Member): void => {
          const list = waiting.listOf(member, separatesClaims);
          expect(member, "Each list is taken in its order.").toBe(list[0]);
          expect(list === lists.again || lists.again.length === 0, "Reruns come first.").toBe(true);
          list.shift();
          if (list === lists.background) {
            turns++;
            if (lists.callers.length > 0) expect(turns, "Callers wait.").toBeLessThanOrEqual(most);
          } else if (list === lists.callers) {
            if (lists.background.length > 0) {
              expect(turns, "No turn is lost.").toBeGreaterThanOrEqual(most);
            }
            turns = 0;
          }
        };
        const take = (max: number): void => {
          const { first } = queue;
          const bothWait = lists.claiming.length > 0 && lists.background.length > 0;
          if (bothWait && lists.again.length === 0) {
            expect(first?.claims, "The two kinds of groups alternate.").toBe(!wasClaiming);
          }
          const group: Member[] = [];
          for (const member of queue.takeGroup(max)) {
            takeOne(member);
            group.push(member);
          }
          expect(group[0], "`first` is the first of the next group.").toBe(first);
          expect(group.length, "A group is not too large.").toBeLessThanOrEqual(max);
          if (group.some(({ alone }) => alone)) expect(group, "It is alone.").toHaveLength(1);
          if (separatesClaims) {
            const isOneKind = group.every(({ claims }) => claims === first?.claims);
            expect(isOneKind, "Commands that claim rows share no group with others.").toBe(true);
          }
          wasClaiming = first?.claims ?? wasClaiming;
          taken.push(...group);
        };
        for (const each of steps) {
          if (each.do === "add") {
            const member = command(places++, each.kind);
            queue.add(member);
            waiting.listOf(member, separatesClaims).push(member);
          } else if (each.do === "take") take(each.max);
          else {
            const members = taken.splice(-each.taken, each.taken);
            for (const member of members) member.alone = each.alone;
            queue.addAgain(members);
            lists.again = [...lists.again, ...members].toSorted((a, b) => a.place - b.place);
          }
        }
        const left = Object.values(lists).flat().length;
        expect(queue.size, "The size is the number of waiting commands.").toBe(left);
        for (let n = 0; n < left; n++) take(1);
        expect(Object.values(lists).flat(), "Nothing is lost or taken twice.").toEqual([]);
        expect(queue.size, "No command waits.").toBe(0);
      }),
    );
  },
);
