import type { Member } from "./command-queue.ts";

/** Forgets the work that began in runs which are not committed. */
export function forgetBegunWork(members: readonly Member[]): void {
  for (const member of members) {
    member.begun?.onUndone();
    member.begun = undefined;
  }
}

/** Continues the work that began in runs, if it turns out that they were committed. */
export function checkBegunWork(members: readonly Member[]): void {
  for (const member of members) {
    member.begun?.onOutcomeUnknown();
    member.begun = undefined;
  }
}
