/**
 * Locks that show which engines are alive. A started engine holds one, and its leases name it. When
 * nobody holds the lock of a lease, the engine has crashed or stopped, and its work continues
 * elsewhere before the lease expires.
 */
export interface EngineLocks {
  /**
   * Takes a new lock. Returns undefined if the storage cannot have locks here, for example because
   * the process may not create files.
   * @throws TidingsError `storage_unavailable`
   */
  take(): Promise<EngineLock | undefined>;
  /**
   * How long a lock has to be free before its engine counts as gone, in milliseconds. If a broken
   * connection can free a lock, a living engine must be able to take it again in this time. 0 if
   * only a release or the end of the process frees it.
   */
  readonly graceMs: number;
  /**
   * Returns the ids, among `ids`, of locks that nobody holds now.
   * @throws TidingsError `storage_unavailable`
   */
  findFree(ids: readonly string[]): Promise<readonly string[]>;
}

/** The lock of one engine. It is free when it is released or when the process ends. */
export interface EngineLock {
  /** The id of the lock. No later lock of the storage has the same id. */
  readonly id: string;
  /**
   * Whether the lock is held now, as far as this process knows. A lock that was lost with its
   * connection is taken again when there is a new one.
   */
  isHeld(): boolean;
  /** Releases the lock. Repeated calls have no effect. Never rejects. */
  release(): Promise<void>;
}
