import type { StoragePort } from "../../../src/ports/storage.ts";
import { over } from "../over.ts";

/** The storage, which notifies its engine of other processes' commits only when `tell` is called. */
export function telling<Tx extends object | undefined>(
  storage: StoragePort<Tx>,
): { readonly storage: StoragePort<Tx>; readonly tell: () => void } {
  let heard = (): void => {};
  const watch = (listener: () => void): (() => void) => {
    heard = listener;
    return () => {};
  };
  return { storage: over(storage, { watch }), tell: () => heard() };
}
