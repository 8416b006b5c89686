/** The classes of work: which of an account's messages, and of its agents' turns, come first. */

/**
 * The classes, best first. Stored lanes contain their names.
 * - `single`: transactional messages that no batch sent, and turns of agents that answer contacts.
 * - `batch`: transactional messages of a batch, and triggered turns of agents.
 * - `marketing`: marketing messages that no batch sent.
 * - `marketing_batch`: marketing messages of a batch.
 */
export const jobClasses = ["single", "batch", "marketing", "marketing_batch"] as const;
export type JobClass = (typeof jobClasses)[number];

export const [bestClass] = jobClasses;
const [, ...lowerClasses] = jobClasses;

/** Of this many picks, one goes to a class below the best one that waits. */
const lowerEvery = 8;

/** Whether a class is below the best one. */
export function isLower(jobClass: JobClass): boolean {
  return jobClass !== bestClass;
}

/** Returns the best of some classes. */
export function bestOf(first: JobClass, ...others: readonly JobClass[]): JobClass {
  return jobClasses.find((each) => each === first || others.includes(each)) ?? first;
}

/**
 * Returns the class whose job is picked, or undefined if no class waits. `pick` is the number of
 * the pick, from 0. Most picks go to the best class that waits. Every eighth goes to one below it,
 * in rotation, so each class that waits gets at least one of 24 picks.
 */
export function classAt(pick: number, waiting: readonly JobClass[]): JobClass | undefined {
  const best = jobClasses.find((each) => waiting.includes(each));
  if (pick % lowerEvery !== lowerEvery - 1) return best;
  const from = Math.floor(pick / lowerEvery) % lowerClasses.length;
  const rotated = [...lowerClasses.slice(from), ...lowerClasses.slice(0, from)];
  return rotated.find((each) => each !== best && waiting.includes(each)) ?? best;
}

/**
 * Picks up to `max` jobs in all. `waiting` has the jobs of each class, which keep their order.
 * `pick` is the number of the first pick (`classAt`).
 */
export function pickByClass<T extends object>(
  waiting: ReadonlyMap<JobClass, readonly T[]>,
  pick: number,
  max: number,
): T[] {
  let classes = [...waiting.keys()];
  const takenOf = new Map<JobClass, number>();
  const taken: T[] = [];
  while (taken.length < max) {
    const next = classAt(pick + taken.length, classes);
    if (next === undefined) break;
    const place = takenOf.get(next) ?? 0;
    const job = waiting.get(next)?.[place];
    if (job === undefined) {
      classes = classes.filter((each) => each !== next);
      continue;
    }
    takenOf.set(next, place + 1);
    taken.push(job);
  }
  return taken;
}
