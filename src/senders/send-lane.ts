import type { Scope } from "../kernel/index.ts";
import type { Lane } from "../queue/index.ts";

/** The lane of the jobs that hand messages over to a transport. */
export function sendLane({
  transport,
  account_id,
  mode,
}: Scope & { readonly transport: string | null }): Lane<"send"> {
  // A message without a transport is never handed over.
  const remote = transport ?? "";
  return { kind: "send", slow: false, remote, account_id, mode, waiting_for: null };
}
