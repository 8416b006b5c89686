import { signal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { onReconnect } from "./reachability.ts";
import { Repetition } from "./repetition.ts";

/** The state of something that is loaded. A failed reload keeps what was loaded before. */
export interface Loaded<Data> {
  readonly data: Data | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
}

/**
 * Something that is loaded from the server, and may be loaded again. A load that failed is repeated
 * when the server is back, or after a pause if the server cannot answer for now.
 */
export class Resource<Data> {
  private readonly inner = signal<Loaded<Data>>({
    data: undefined,
    error: undefined,
    isLoading: false,
  });
  private running: AbortController | undefined;
  private endWaiting: (() => void) | undefined;
  private readonly repetition = new Repetition();
  private readonly load: (signal: AbortSignal) => Promise<Data>;

  constructor(load: (signal: AbortSignal) => Promise<Data>) {
    this.load = load;
  }

  get state(): ReadonlySignal<Loaded<Data>> {
    return this.inner;
  }

  get data(): Data | undefined {
    return this.inner.value.data;
  }

  /** Loads it. A load that is under way is given up. */
  async reload(): Promise<void> {
    this.stop();
    const own = new AbortController();
    this.running = own;
    this.inner.value = { ...this.inner.peek(), isLoading: true };
    try {
      const data = await this.load(own.signal);
      if (own.signal.aborted) return;
      this.repetition.noteSuccess();
      this.inner.value = { data, error: undefined, isLoading: false };
    } catch (error) {
      if (own.signal.aborted) return;
      this.inner.value = { data: this.inner.peek().data, error, isLoading: false };
      this.endWaiting = onReconnect(() => void this.reload());
      this.repetition.noteFailure(error, () => void this.reload());
    }
  }

  /** Loads the data, and returns a function that ends the loading, as effects return it. */
  loadWhileShown(): () => void {
    void this.reload();
    return () => this.stop();
  }

  /** Replaces the data, for example by the answer to a write. */
  set(data: Data): void {
    this.stop();
    this.inner.value = { data, error: undefined, isLoading: false };
  }

  /** Gives up what is under way. */
  stop(): void {
    this.running?.abort();
    this.endWaiting?.();
    this.repetition.end();
  }
}

/**
 * Loads something while the component is shown. Another one of `keys` stands for something else.
 * Another `version` loads the same thing again.
 */
export function useResource<Data>(
  load: (signal: AbortSignal) => Promise<Data>,
  keys: readonly unknown[],
  version?: unknown,
): Resource<Data> {
  const resource = useMemo(() => new Resource(load), keys);
  useEffect(() => resource.loadWhileShown(), [resource, version]);
  return resource;
}
