import type { StoragePort } from "../../../src/ports/index.ts";
import type { Ground } from "./run-context.ts";
import { SharedStorage } from "./shared-storage.ts";

/** The storage of a world, as its engines connect to it. */
export function groundOf(storage: StoragePort): Ground {
  const shared = new SharedStorage(storage);
  return {
    connect: (options) => shared.connect(options),
    watch: (listener) => shared.watch(listener),
    yieldToEventLoop: () => storage.yieldToEventLoop(),
    reader: storage.reader,
    close: () => storage.close(),
  };
}
