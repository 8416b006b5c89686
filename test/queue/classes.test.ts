/** The turns of classes: better ones first, and none starves. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classAt, jobClasses, pickByClass, type JobClass } from "../../src/queue/jobs/classes.ts";

const rankOf = (jobClass: JobClass): number => jobClasses.indexOf(jobClass);
const best = (waiting: readonly JobClass[]): JobClass =>
  jobClasses.find((each) => waiting.includes(each)) ?? expect.fail("nothing waits");

/** The classes that wait at each of many turns. */
const histories = fc.array(fc.subarray([...jobClasses], { minLength: 1 }), {
  minLength: 24,
  maxLength: 80,
  size: "max",
});

describe("the turns of classes", () => {
  it("belong to a class that waits, and at least seven of eight to the best one", () => {
    fc.assert(
      fc.property(fc.nat(1_000), histories, (first, history) => {
        const lower = history.map((waiting, i) => {
          const taken = classAt(first + i, waiting);
          expect(waiting, "A turn belongs to a class that waits.").toContain(taken);
          return taken !== best(waiting);
        });
        for (let i = 0; i + 8 <= lower.length; i++) {
          const inRow = lower.slice(i, i + 8).filter(Boolean);
          expect(inRow.length, `of the eight turns from ${i}`).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  it("come at least once in 24 to a class behind a better one, whatever else comes and goes", () => {
    fc.assert(
      fc.property(
        fc.subarray([...jobClasses], { minLength: 2, maxLength: 2 }),
        fc.nat(1_000),
        histories,
        (two, first, history) => {
          const patient = two.find((each) => each !== best(two)) ?? expect.fail("one class");
          const taken = history.map((waiting, i) => classAt(first + i, [...waiting, ...two]));
          for (let i = 0; i + 24 <= taken.length; i++) {
            expect(taken.slice(i, i + 24), `of the 24 turns from ${i}`).toContain(patient);
          }
        },
      ),
    );
  });

  it("come to the lower of two classes exactly once in eight", () => {
    fc.assert(
      fc.property(
        fc.subarray([...jobClasses], { minLength: 2, maxLength: 2 }),
        fc.nat(1_000),
        (two, first) => {
          const taken = Array.from({ length: 8 }, (_, i) => classAt(first + i, two));
          expect(
            taken.filter((each) => each !== best(two)),
            `One turn of eight belongs to the lower class: ${taken.join(", ")}.`,
          ).toHaveLength(1);
        },
      ),
    );
  });

  it("give each waiting class at least one of 24 jobs that are taken at once", () => {
    fc.assert(
      fc.property(fc.nat(100), (turn) => {
        const jobs = (name: JobClass) => Array.from({ length: 24 }, () => ({ name }));
        const taken = pickByClass(new Map(jobClasses.map((name) => [name, jobs(name)])), turn, 24);
        expect(new Set(taken.map(({ name }) => name))).toEqual(new Set(jobClasses));
      }),
    );
  });

  it("take as many jobs as wait and fit, each once, and those of a class in their order", () => {
    const queues = fc.array(fc.nat(20), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(queues, fc.nat(100), fc.nat(40), (lengths, turn, max) => {
        const waiting = new Map(
          jobClasses.map((name, c) => [
            name,
            Array.from({ length: lengths[c] ?? 0 }, (_, n) => ({ name, n })),
          ]),
        );
        const taken = pickByClass(waiting, turn, max);
        const all = lengths.reduce((sum, length) => sum + length, 0);
        expect(taken, `As many jobs are taken as there are, up to ${max}.`).toHaveLength(
          Math.min(max, all),
        );
        for (const name of jobClasses) {
          const own = taken.filter((each) => each.name === name);
          expect(own.map(({ n }) => n)).toEqual(own.map((_, i) => i));
        }
        // Where a job of a lower class comes before a better one that was left, it had its turn.
        const bestLeft = jobClasses.find(
          (name, c) => (lengths[c] ?? 0) > taken.filter((each) => each.name === name).length,
        );
        if (bestLeft === undefined) return;
        const worse = taken.filter(({ name }) => rankOf(name) > rankOf(bestLeft)).length;
        expect(
          worse,
          "Lower classes get at most one turn of eight while a better one waits.",
        ).toBeLessThanOrEqual(Math.ceil(max / 8));
      }),
    );
  });
});
