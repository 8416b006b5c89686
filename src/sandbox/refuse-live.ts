import { type Scope, TidingsError } from "../kernel/index.ts";

/** @throws TidingsError `conflict` outside the sandbox: nothing that is simulated ever touches live data */
export function refuseLive({ mode }: Scope): void {
  if (mode === "live") throw new TidingsError("conflict", "This is for sandbox keys only.");
}
