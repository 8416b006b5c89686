/** The source of ids, secrets and jitter. A seeded source makes a run reproducible. */
export interface Random {
  /** Returns `count` bytes. In production they must be cryptographically secure. */
  bytes(count: number): Uint8Array;
}
