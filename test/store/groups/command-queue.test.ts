import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  CommandQueue,
  maxGroupSize,
  type Origin,
  type QueuedCommand,
} from "../../../src/store/groups/command-queue.ts";

function newCommand(place: number, origin: Origin): QueuedCommand {
  return {
    work: () => Promise.resolve(),
    resolve: () => {},
    reject: () => {},
    place,
    arrivedAt: place,
    origin,
    conflicts: 0,
    maxConflicts: 8,
    groupSize: maxGroupSize,
    begun: undefined,
  };
}

const origin = fc.constantFrom<Origin>("caller", "item", "engine");
/** Some of the commands that were taken last must run again. */
const rerun = fc.record({ taken: fc.nat(5), groupSize: fc.constantFrom(1, 2, maxGroupSize) });
/** What happens after a command of a group was taken, before the next one is. */
const meanwhile = fc.record({
  after: fc.integer({ min: 1, max: 4 }),
  arrivals: fc.array(origin, { maxLength: 3 }),
  rerun: fc.option(rerun, { freq: 2, nil: undefined }),
});

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("add" as const), origin }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("take" as const),
      max: fc.integer({ min: 1, max: 9 }),
      meanwhile: fc.option(meanwhile, { nil: undefined }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("run again" as const), rerun }),
  },
);

/** How many callers' commands run before each item of a list, while both wait. */
const callersPerItem = 3;

/** Counts the commands of a list that were taken since the last one of the lists behind it. */
class Turns {
  readonly #most: number;
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  takeFirst(isSecondWaiting: boolean): void {
    this.#taken++;
    if (!isSecondWaiting) return;
    expect(this.#taken, "The others wait no longer than this.").toBeLessThanOrEqual(this.#most);
  }

  takeSecond(isFirstWaiting: boolean): void {
    if (isFirstWaiting) {
      expect(this.#taken, "No turn is lost.").toBeGreaterThanOrEqual(this.#most);
    }
    this.#taken = 0;
  }
}

/** A queue, and the commands that should wait in it. */
class Modeled {
  readonly queue: CommandQueue;
  /** The waiting commands, in the order in which those of each list must be taken. */
  readonly lists = {
    again: [] as QueuedCommand[],
    engine: [] as QueuedCommand[],
    callers: [] as QueuedCommand[],
    items: [] as QueuedCommand[],
  };
  readonly #taken: QueuedCommand[] = [];
  readonly #engineTurns: Turns;
  readonly #callerTurns = new Turns(callersPerItem);
  #places = 0;

  constructor(synchronous: boolean) {
    this.queue = new CommandQueue({ synchronous });
    this.#engineTurns = new Turns(synchronous ? 3 : 1);
  }

  get size(): number {
    return Object.values(this.lists).flat().length;
  }

  add(given: Origin): void {
    const command = newCommand(this.#places++, given);
    this.queue.add(command);
    this.#listOf(command).push(command);
  }

  runAgain({ taken, groupSize }: { readonly taken: number; readonly groupSize: number }): void {
    const commands = this.#taken.splice(-taken, taken);
    for (const command of commands) command.groupSize = groupSize;
    this.queue.addAgain(commands);
    this.lists.again = [...this.lists.again, ...commands].toSorted((a, b) => a.place - b.place);
  }

  /** Takes a group. `afterEach` is called after each command. */
  take(max: number, afterEach: (count: number) => void = () => {}): void {
    const { queue, lists } = this;
    const runsAgain = lists.again.length > 0;
    const group: QueuedCommand[] = [];
    for (const command of queue.takeGroup(max)) {
      const isAgain = lists.again.includes(command);
      expect(isAgain && !runsAgain, "A command that runs again joins no group under way.").toBe(
        false,
      );
      this.#takeOne(command);
      group.push(command);
      afterEach(group.length);
    }
    expect(group.length, "A group is not too large.").toBeLessThanOrEqual(max);
    const size = Math.min(...group.map(({ groupSize }) => groupSize));
    expect(group.length, "No command is in a larger group than it may be.").toBeLessThanOrEqual(
      size,
    );
    this.#taken.push(...group);
  }

  #takeOne(command: QueuedCommand): void {
    const { again, engine, callers, items } = this.lists;
    const list = this.#listOf(command);
    expect(command, "Each list is taken in its order.").toBe(list[0]);
    expect(list === again || again.length === 0, "Commands that run again come first.").toBe(true);
    list.shift();
    if (list === engine) this.#engineTurns.takeFirst(callers.length + items.length > 0);
    else if (list === callers) {
      this.#engineTurns.takeSecond(engine.length > 0);
      this.#callerTurns.takeFirst(items.length > 0);
    } else if (list === items) {
      this.#engineTurns.takeSecond(engine.length > 0);
      this.#callerTurns.takeSecond(callers.length > 0);
    }
  }

  #listOf(command: QueuedCommand): QueuedCommand[] {
    const { again, engine, callers, items } = this.lists;
    if (again.includes(command)) return again;
    return { engine, caller: callers, item: items }[command.origin];
  }
}

it.each([true, false])(
  "a queue (synchronous storage: %s) takes commands in order, and lets nobody wait for long",
  (synchronous) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: "max" }), (steps) => {
        const modeled = new Modeled(synchronous);
        const { queue, lists } = modeled;
        for (const each of steps) {
          if (each.do === "add") modeled.add(each.origin);
          else if (each.do === "run again") modeled.runAgain(each.rerun);
          else {
            modeled.take(each.max, (count) => {
              if (count !== each.meanwhile?.after) return;
              for (const arrival of each.meanwhile.arrivals) modeled.add(arrival);
              if (each.meanwhile.rerun !== undefined) modeled.runAgain(each.meanwhile.rerun);
            });
          }
          expect(queue.hasCallers, "It tells whether callers wait.").toBe(lists.callers.length > 0);
        }
        const left = modeled.size;
        expect(queue.size, "The size is the number of waiting commands.").toBe(left);
        for (let n = 0; n < left; n++) modeled.take(1);
        expect(modeled.size, "Nothing is lost or taken twice.").toBe(0);
        expect(queue.size, "No command waits.").toBe(0);
      }),
    );
  },
);

describe("a group that is taken one command after the other", () => {
  /** A queue with some callers' commands. */
  function filled(count: number): CommandQueue {
    const queue = new CommandQueue({ synchronous: true });
    for (let n = 0; n < count; n++) queue.add(newCommand(n, "caller"));
    return queue;
  }

  /** Takes a group. Returns the places of its commands. */
  function taken(queue: CommandQueue, afterFirst: () => void = () => {}): readonly number[] {
    const places: number[] = [];
    for (const { place } of queue.takeGroup(9)) {
      places.push(place);
      if (places.length === 1) afterFirst();
    }
    return places;
  }

  it("is joined by a command that arrives meanwhile", () => {
    const queue = filled(1);
    const arrive = (): void => queue.add(newCommand(1, "caller"));
    expect(taken(queue, arrive)).toEqual([0, 1]);
  });

  it("ends when commands must run again, and these begin the next one", () => {
    const queue = filled(3);
    const failed = [...queue.takeGroup(1)];
    expect(taken(queue, () => queue.addAgain(failed))).toEqual([1]);
    expect(taken(queue)).toEqual([0, 2]);
  });

  it("is joined by commands that must run again if its first one does, too", () => {
    const queue = filled(3);
    const failed = [...queue.takeGroup(2)];
    queue.addAgain(failed.slice(1));
    expect(taken(queue, () => queue.addAgain(failed.slice(0, 1)))).toEqual([1, 0, 2]);
  });
});
