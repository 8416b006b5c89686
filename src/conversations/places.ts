/**
 * The places of messages in the thread of their conversation. A message for later takes its place
 * when its time comes: the contact gets it then, after all that was said meanwhile.
 */
import { iso, type MessageStatus } from "../kernel/index.ts";
import type { ConversationRow } from "./rows.ts";

/**
 * Messages that wait for their time have numbers above this one, so that lists show them after all
 * others. No conversation has that many messages.
 */
const waitingFrom = 2 ** 40;

/** The columns of a message that say where it stands. */
export interface Place {
  /**
   * The number of its place. The numbers of a conversation grow, and none is used twice. A message
   * that takes a later place leaves its number unused.
   */
  readonly sequence: number;
  /**
   * The number that a message for later got when it was written. It stays when the message takes
   * its place. Null for all other messages, whose only number is `sequence`.
   */
  readonly first_sequence: number | null;
  /**
   * When the message took its place, in milliseconds since the epoch. 0 while it waits for its
   * time.
   */
  readonly placed_at: number;
}

/** The columns that tell when a message took its place. */
type Placed = Pick<Place, "placed_at"> & {
  readonly status: MessageStatus;
  readonly created_at: number;
};

type Numbers = Pick<Place, "sequence" | "first_sequence">;

/** Returns the place of a message that waits for its time. `number` is the one it got at first. */
export function waitingPlace(number: number): Place {
  return { sequence: waitingFrom + number, first_sequence: number, placed_at: 0 };
}

/** Whether a message waits for its time outside of the thread. */
export const isOutsideThread = ({ sequence }: Pick<Place, "sequence">): boolean =>
  sequence > waitingFrom;

/** Returns the number that a message got when it was written. Earlier messages have lower ones. */
export const firstNumber = ({ sequence, first_sequence }: Numbers): number =>
  first_sequence ?? sequence;

/** Returns the number of a message's place in the thread. While it waits, its first number. */
export const placeNumber = (place: Numbers): number =>
  isOutsideThread(place) ? firstNumber(place) : place.sequence;

/** Returns when a message took its place, for a response. Null while it waits for its time. */
export function placedAt(row: Placed): string | null {
  if (row.status === "scheduled") return null;
  return iso(row.placed_at === 0 ? row.created_at : row.placed_at);
}

/** Returns the last number that a message of the conversation has got. */
export const lastSequence = ({
  message_count,
  moved_count,
}: Pick<ConversationRow, "message_count" | "moved_count">): number =>
  message_count + (moved_count ?? 0);
