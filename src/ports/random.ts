/** Where ids, secrets and jitter come from. A seeded one replays a history exactly. */
export interface Random {
  /** `count` bytes. The system's are fit for secrets. */
  bytes(count: number): Uint8Array;
}
