import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Returns how many bytes of JavaScript's heap are in use, without garbage. */
export function heapInUse(): number {
  // The flag adds `gc` only to new contexts of `node:vm`.
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}
