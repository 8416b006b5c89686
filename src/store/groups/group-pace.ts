import type { Clock } from "../../ports/index.ts";
import type { Origin } from "./command-queue.ts";

/** How long the bodies of a group may run, in milliseconds, without the pauses. */
const groupMs = 8;
/** The length of a slice, in milliseconds. */
const usualSliceMs = 0.5;
/**
 * After a pause longer than this, in milliseconds, the host application is busy. The next slice is
 * then as long as the pause, so that the engine has about half of the time.
 */
const longPauseMs = 2;

/**
 * How long the bodies of a group run, one after the other. They run in slices. After each slice,
 * the event loop continues, so that callers' commands arrive and the commit of the previous group
 * can end.
 */
export class GroupPace {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #commitMs: number;
  #callerCommands = 0;
  /** How long the slices before this one took, without the pauses. */
  #msBefore = 0;
  #sliceStart: number;
  #sliceMs = usualSliceMs;
  /** The time when the clock was last read. */
  #now: number;

  /** `commitMs`: how long the last synchronous commit took, in milliseconds. */
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
  get mustEnd(): boolean {
    return this.#runMs >= groupMs;
  }

  get isSliceOver(): boolean {
    return this.#now - this.#sliceStart >= this.#sliceMs;
  }

  /**
   * Whether the group may end early, so that the callers' commands in it do not wait for others:
   * after one slice for each of them, and after half the time of a commit. If groups were shorter,
   * the storage would spend most of its time on commits.
   */
  get mayEnd(): boolean {
    const commands = this.#callerCommands;
    return commands > 0 && this.#runMs >= Math.max(commands * usualSliceMs, this.#commitMs / 2);
  }

  /** Ends the slice and begins the next one. */
  async pause(yieldToEventLoop: () => Promise<void>): Promise<void> {
    this.#msBefore = this.#runMs;
    await yieldToEventLoop();
    this.#sliceStart = this.#clock.monotonic();
    const pauseMs = this.#sliceStart - this.#now;
    this.#sliceMs = pauseMs > longPauseMs ? pauseMs : usualSliceMs;
    this.#now = this.#sliceStart;
  }

  get #runMs(): number {
    return this.#msBefore + this.#now - this.#sliceStart;
  }
}
