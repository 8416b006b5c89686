import type { Clock } from "../ports/index.ts";
import type { Origin } from "./command-queue.ts";

/** How long the bodies of a group may run, in milliseconds. More would delay its first commands. */
const groupMs = 8;
/** The shortest slice, in milliseconds. */
const sliceMs = 0.5;
/**
 * After a pause longer than this, in milliseconds, the next slice is as long as the pause. So the
 * engine has half of the event loop if the host application is busy.
 */
const longPauseMs = 2;

/**
 * How long the bodies of a group run, one after the other. They run in slices. After each slice, the
 * event loop continues, so that callers' commands arrive and the commit of the previous group can
 * end.
 */
export class GroupPace {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #commitMs: number;
  #callerCommands = 0;
  /** How long the slices before this one took, without the pauses. */
  #msBefore = 0;
  #sliceStart: number;
  #sliceMs = sliceMs;
  /** When the last body ended. */
  #now: number;

  /** `commitMs`: how long the last commit blocked the event loop, in milliseconds. */
  constructor(clock: Pick<Clock, "monotonic">, commitMs: number) {
    this.#clock = clock;
    this.#commitMs = commitMs;
    this.#now = clock.monotonic();
    this.#sliceStart = this.#now;
  }

  /** Call after each body. */
  bodyEnded(origin: Origin): void {
    this.#now = this.#clock.monotonic();
    if (origin === "caller") this.#callerCommands++;
  }

  /** Whether the group must end. */
  get isOver(): boolean {
    return this.#ms >= groupMs;
  }

  get isSliceOver(): boolean {
    return this.#now - this.#sliceStart >= this.#sliceMs;
  }

  /**
   * Whether the group has run long enough if no more callers' commands wait: a slice for each that it
   * has, so that none of them waits for many other commands, but at least half as long as a commit
   * takes, so that the storage does not spend all its time on commits.
   */
  get isEnough(): boolean {
    const commands = this.#callerCommands;
    return commands > 0 && this.#ms >= Math.max(commands * sliceMs, this.#commitMs / 2);
  }

  /** Ends the slice and begins the next one. */
  async pause(yieldToEventLoop: () => Promise<void>): Promise<void> {
    this.#msBefore = this.#ms;
    await yieldToEventLoop();
    this.#sliceStart = this.#clock.monotonic();
    const pauseMs = this.#sliceStart - this.#now;
    this.#sliceMs = pauseMs > longPauseMs ? pauseMs : sliceMs;
    this.#now = this.#sliceStart;
  }

  get #ms(): number {
    return this.#msBefore + this.#now - this.#sliceStart;
  }
}
