import type { Member } from "./command-queue.ts";

/** Forgets the work that began in runs that are not committed. */
export function undoBegun(members: readonly Member[]): void {
  for (const member of members) {
    member.begun?.onUndone();
    member.begun = undefined;
  }
}

/** Continues the work that began in runs if it turns out that they were committed. */
export function checkBegun(members: readonly Member[]): void {
  for (const member of members) {
    member.begun?.onUnknown();
    member.begun = undefined;
  }
}
